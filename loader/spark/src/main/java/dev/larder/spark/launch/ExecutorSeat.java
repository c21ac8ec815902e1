package dev.larder.spark.launch;

import dev.larder.internal.layout.StoreLocation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/**
 * The place of a task among those of its gang. Tasks on one machine have a store each: the first the usual one, so that it finds what
 * is there, the others one beside it.
 *
 * @param node its number in the gang
 * @param store where its data is; empty for what the environment says
 */
record ExecutorSeat(int node, String store) {
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");

    /**
     * Tells the others where this task is: which machine, and which memory its store lies in, so that namespaces with a {@code
     * /dev/shm} of their own count as machines.
     */
    static String place(String store) throws IOException {
        Path there = StoreLocation.resolve(store.isEmpty() ? null : Path.of(store));
        Path above = Objects.requireNonNullElse(there.getParent(), there);
        while (!Files.exists(above) && above.getParent() != null) {
            above = above.getParent();
        }
        return Files.readString(BOOT).strip() + "/" + Files.getAttribute(above, "unix:dev") + "/" + there;
    }

    /** Returns the seat of a task, from the places of all. */
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
