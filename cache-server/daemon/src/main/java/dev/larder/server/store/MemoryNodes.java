package dev.larder.server.store;

import dev.larder.posix.BulkIo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The memory nodes of this machine. Where there are several, a dataset that all cores read should lie on all of them. */
public final class MemoryNodes {
    private static final Logger LOG = LoggerFactory.getLogger(MemoryNodes.class);
    private static final Path WITH_MEMORY = Path.of("/sys/devices/system/node/has_memory");
    private static final BitSet NODES = read();

    private MemoryNodes() {}

    /** Spreads what the calling thread allocates from now on over all nodes; does nothing where there is only one. */
    public static void interleaveThisThread() {
        if (NODES.cardinality() > 1 && !BulkIo.system().interleaveOver(NODES)) {
            LOG.debug("pages are not interleaved: nodes={}", NODES);
        }
    }

    private static BitSet read() {
        try {
            return parse(Files.readString(WITH_MEMORY).trim());
        } catch (IOException | NumberFormatException e) {
            return new BitSet();
        }
    }

    /** Reads the kernel's form of a set of numbers, such as {@code 0-1,4}. */
    static BitSet parse(String list) {
        BitSet nodes = new BitSet();
        for (String range : list.split(",", -1)) {
            String[] ends = range.split("-", 2);
            if (!range.isEmpty()) {
                nodes.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
            }
        }
        return nodes;
    }
}
