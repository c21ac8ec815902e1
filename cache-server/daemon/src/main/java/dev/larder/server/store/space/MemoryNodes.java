package dev.larder.server.store.space;

import dev.larder.internal.posix.BulkIo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The memory nodes of this machine. If there are several, a dataset that all cores read should be spread over all of them. */
public final class MemoryNodes {
    private static final Logger LOG = LoggerFactory.getLogger(MemoryNodes.class);
    private static final Path WITH_MEMORY = Path.of("/sys/devices/system/node/has_memory");
    private static final Path POLICIES = Path.of("/proc/self/numa_maps");
    private static final BitSet NODES = read();

    private MemoryNodes() {}

    /**
     * Spreads the pages that the calling thread allocates from now on over all nodes. Does nothing if there is only one node, or if this
     * process was started with a memory policy.
     */
    public static void interleaveThisThread() {
        if (NODES.cardinality() > 1 && !BulkIo.system().interleaveOver(NODES)) {
            LOG.debug("pages are not interleaved: nodes={}", NODES);
        }
    }

    private static BitSet read() {
        try {
            return isPlacedByCaller()
                    ? new BitSet()
                    : parse(Files.readString(WITH_MEMORY).trim());
        } catch (IOException | NumberFormatException e) {
            return new BitSet();
        }
    }

    private static boolean isPlacedByCaller() {
        try (Stream<String> mappings = Files.lines(POLICIES)) {
            return mappings.findFirst().filter(MemoryNodes::hasPolicy).isPresent();
        } catch (IOException | UncheckedIOException withoutNuma) {
            return false;
        }
    }

    /** Returns whether a line of {@code numa_maps} has a policy other than the kernel's default, such as {@code bind:0} set by numactl. */
    static boolean hasPolicy(String mapping) {
        String[] words = mapping.split(" ", 3);
        return words.length > 1 && !words[1].equals("default");
    }

    /** Parses the kernel's form of a set of numbers, such as {@code 0-1,4}. */
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
