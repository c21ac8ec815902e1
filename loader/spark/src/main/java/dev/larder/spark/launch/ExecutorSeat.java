package dev.larder.spark.launch;

import dev.larder.internal.layout.StoreLocation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/**
 * The node number and the store of a task. Each task has its own store: the first task of a machine uses the given one, so that it finds
 * loaded datasets there, and the others add a number to its name.
 *
 * @param node its number in the gang
 * @param store empty for the store that the environment names
 */
record ExecutorSeat(int node, String store) {
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");

    /**
     * Returns a text that two tasks share if their stores are in the same memory: the boot id of the machine, the mount and the path.
     * Containers with their own {@code /dev/shm} differ in the mount.
     */
    static String place(String store) throws IOException {
        Path there = StoreLocation.resolve(store.isEmpty() ? null : Path.of(store));
        Path above = Objects.requireNonNullElse(there.getParent(), there);
        while (!Files.exists(above) && above.getParent() != null) {
            above = above.getParent();
        }
        return Files.readString(BOOT).strip() + "/" + Files.getAttribute(above, "unix:dev") + "/" + there;
    }

    /** Returns the seat of a task. {@code places} has the {@link #place} of each task. */
    static ExecutorSeat of(int node, String[] places, String store) {
        int before = 0;
        for (int other = 0; other < node; other++) {
            before += places[other].equals(places[node]) ? 1 : 0;
        }
        if (before == 0) {
            return new ExecutorSeat(node, store);
        }
        return new ExecutorSeat(node, StoreLocation.resolve(store.isEmpty() ? null : Path.of(store)) + "-" + before);
    }
}
