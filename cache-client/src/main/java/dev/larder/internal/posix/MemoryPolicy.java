package dev.larder.internal.posix;

import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The kernel's rule for the memory node of a new page. A thread and a process inherit it from the thread that starts them.
 *
 * @param mode the number of the kind, with flags above {@link #KIND}
 * @param nodes the nodes to choose from; empty if all
 */
public record MemoryPolicy(int mode, BitSet nodes) {
    private static final int KIND = 0xff;
    private static final int INTERLEAVED = 3;
    private static final int WEIGHTED = 6;
    private static final List<String> KINDS =
            List.of("default", "prefer", "bind", "interleave", "local", "prefer-many", "weighted-interleave");

    /** The kernel's own: the node of the processor that touches the page first. */
    public static final MemoryPolicy DEFAULT = new MemoryPolicy(0, new BitSet());

    /** The ways to place data that a user can request. */
    public enum Placement {
        INTERLEAVE,
        LOCAL
    }

    /** Copies the nodes. */
    public MemoryPolicy {
        nodes = (BitSet) nodes.clone();
    }

    /** Reads the form of {@link #toString}. Other text is the default: a daemon of another release may have other kinds. */
    public static MemoryPolicy parse(String text) {
        String[] parts = text.split(":", 2);
        int kind = KINDS.indexOf(parts[0]);
        try {
            return kind < 0
                    ? DEFAULT
                    : new MemoryPolicy(kind, parts.length == 1 ? new BitSet() : MemoryNodes.parse(parts[1]));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) { // no numbers, or no range
            return DEFAULT;
        }
    }

    /** Spreads pages over nodes in turn. */
    public static MemoryPolicy interleave(BitSet nodes) {
        return new MemoryPolicy(INTERLEAVED, nodes);
    }

    /**
     * Chooses the policy of a process that fills a store. A request decides. Without one, an inherited policy remains, and otherwise pages are
     * interleaved if there are several nodes.
     */
    public static MemoryPolicy choose(BitSet nodes, MemoryPolicy inherited, @Nullable Placement request) {
        if (request == null) {
            return inherited.isDefault() && nodes.cardinality() > 1 ? interleave(nodes) : inherited;
        }
        return request == Placement.LOCAL ? DEFAULT : interleave(nodes);
    }

    /** Returns whether it is the kernel's own. */
    public boolean isDefault() {
        return (mode & KIND) == 0;
    }

    /** Returns whether it spreads pages over several nodes. */
    public boolean isSpread() {
        int kind = mode & KIND;
        return (kind == INTERLEAVED || kind == WEIGHTED) && nodes.cardinality() > 1;
    }

    /** Returns it as {@code numactl} writes it, such as {@code interleave:0-1,4}. */
    @Override
    public String toString() {
        int kind = mode & KIND;
        String name = kind < KINDS.size() ? KINDS.get(kind) : "mode-" + kind;
        return nodes.isEmpty() ? name : name + ":" + MemoryNodes.format(nodes);
    }
}
