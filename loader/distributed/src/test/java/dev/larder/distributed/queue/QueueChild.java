package dev.larder.distributed.queue;

import static java.util.Objects.requireNonNull;

import dev.larder.distributed.region.FolderRegions;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.shared.SharedArray;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** A member of a queue that works until it is killed: puts and takes, or holds what it has claimed or taken. */
public final class QueueChild {
    static final Duration PATIENCE = Duration.ofSeconds(30);
    static final int BUFFER_BYTES = 256;

    private QueueChild() {}

    /** Takes the folder of the regions, the name of the queue, and what to do. */
    public static void main(String[] arguments) {
        try (Regions regions = FolderRegions.in(Path.of(arguments[0]));
                HandleQueue queue = HandleQueue.open(regions, arguments[1], PATIENCE)) {
            switch (arguments[2]) {
                case "put-and-take" -> putAndTake(queue);
                case "count" -> count(regions, queue);
                case "claim" -> hold(queue.claim(PATIENCE));
                case "take" -> hold(requireNonNull(queue.take(PATIENCE)));
                case "put" -> {
                    queue.put(queue.claim(PATIENCE).tag(99), PATIENCE);
                    hold(queue);
                }
                default -> throw new IllegalArgumentException(arguments[2]);
            }
        }
    }

    private static void hold(Object held) {
        System.out.println("ready " + held);
        while (ProcessHandle.current().parent().isPresent()) {
            LockSupport.parkNanos(100_000_000); // until it is killed
        }
    }

    private static void putAndTake(HandleQueue queue) {
        Thread producer = new Thread(() -> {
            Handle handle = queue.newHandle();
            for (long number = 0; ; number++) {
                put(queue, handle, ProcessHandle.current().pid(), number);
            }
        });
        producer.setDaemon(true);
        producer.start();
        Handle handle = queue.newHandle();
        System.out.println("ready");
        while (ProcessHandle.current().parent().isPresent()) {
            for (int i = 0; i < 1000 && queue.take(handle, PATIENCE); i++) {
                requireWhole(handle);
                handle.giveBack();
            }
        }
    }

    private static void count(Regions regions, HandleQueue queue) {
        try (SharedArray counts = SharedArray.open(regions, "counts")) {
            Handle handle = queue.newHandle();
            System.out.println("ready");
            while (queue.take(handle, PATIENCE)) {
                counts.addLong(handle.tag(), 1);
                handle.giveBack();
            }
        }
    }

    static void put(HandleQueue queue, Handle handle, long producer, long number) {
        queue.claim(handle, PATIENCE);
        for (int i = 0; i < BUFFER_BYTES; i += 2 * Long.BYTES) {
            handle.buffer().putLong(i, producer);
            handle.buffer().putLong(i + Long.BYTES, number);
        }
        queue.put(handle.tag(number), PATIENCE);
    }

    static void requireWhole(Handle handle) {
        long producer = handle.buffer().getLong(0);
        for (int i = 0; i < BUFFER_BYTES; i += 2 * Long.BYTES) {
            boolean isSame =
                    handle.buffer().getLong(i) == producer && handle.buffer().getLong(i + Long.BYTES) == handle.tag();
            if (!isSame) {
                throw new AssertionError("torn: " + handle);
            }
        }
    }
}
