package dev.larder.internal.posix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.StringJoiner;
import java.util.function.Supplier;

/** The memory nodes of this machine: processors reach the memory of their own node sooner. */
public final class MemoryNodes {
    private static final Path WITH_MEMORY = Path.of("/sys/devices/system/node/has_memory");

    private MemoryNodes() {}

    /** Returns the nodes with memory; none if the kernel does not list them. */
    public static BitSet ofThisMachine() {
        try {
            return parse(Files.readString(WITH_MEMORY).strip());
        } catch (IOException | NumberFormatException e) {
            return new BitSet();
        }
    }

    /**
     * Runs an action on this thread with a policy, and restores the kernel's own afterwards. If the thread has a policy, it keeps that: its
     * user chose it.
     */
    public static <T> T placed(MemoryPolicy policy, Supplier<T> action) {
        BulkIo io = BulkIo.system();
        if (policy.isDefault() || !io.memoryPolicy().isDefault() || !io.setMemoryPolicy(policy)) {
            return action.get();
        }
        try {
            return action.get();
        } finally {
            io.setMemoryPolicy(MemoryPolicy.DEFAULT);
        }
    }

    /** Parses the kernel's form of a set of numbers, such as {@code 0-1,4}. */
    public static BitSet parse(String list) {
        BitSet nodes = new BitSet();
        for (String range : list.split(",", -1)) {
            String[] ends = range.split("-", 2);
            if (!range.isEmpty()) {
                nodes.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
            }
        }
        return nodes;
    }

    /** Returns the kernel's form of a set of numbers. */
    public static String format(BitSet nodes) {
        StringJoiner list = new StringJoiner(",");
        for (int first = nodes.nextSetBit(0); first >= 0; ) {
            int end = nodes.nextClearBit(first);
            list.add(end == first + 1 ? Integer.toString(first) : first + "-" + (end - 1));
            first = nodes.nextSetBit(end);
        }
        return list.toString();
    }
}
