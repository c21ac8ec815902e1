package dev.larder.distributed.shared;

import dev.larder.distributed.region.FolderRegions;
import dev.larder.distributed.region.Regions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Works on a shared array until it is killed: takes its lock, holds it, or publishes states. */
public final class SharedChild {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private SharedChild() {}

    /** Takes the folder of the regions, the name of the array, and what to do. */
    public static void main(String[] arguments) {
        try (Regions regions = FolderRegions.in(Path.of(arguments[0]));
                SharedArray array = SharedArray.open(regions, arguments[1])) {
            switch (arguments[2]) {
                case "hold-write" -> hold(array.lock().writeLock(PATIENCE));
                case "hold-read" -> hold(array.lock().readLock(PATIENCE));
                case "wait-write" -> hold(waitFor(array));
                case "barrier" -> waitAtBarrier(array);
                case "take-turns" -> takeTurns(array);
                case "write" -> write(array);
                case "publish" -> publish(array);
                default -> throw new IllegalArgumentException(arguments[2]);
            }
        }
    }

    private static SharedLock.Hold waitFor(SharedArray array) {
        System.out.println("ready");
        return array.lock().writeLock(Duration.ofMinutes(5));
    }

    private static void waitAtBarrier(SharedArray array) {
        System.out.println("ready");
        array.barrier(3, Duration.ofMinutes(5));
    }

    /** Takes the lock for reading and for writing, for a moment each, and most of the time waits for it. */
    private static void takeTurns(SharedArray array) {
        System.out.println("ready");
        while (ProcessHandle.current().parent().isPresent()) {
            try (SharedLock.Hold hold = array.lock().writeLock(Duration.ofMinutes(5))) {
                makeWhole(array, hold);
                LockSupport.parkNanos(100_000); // others wait for it meanwhile
            }
            array.lock().readLock(Duration.ofMinutes(5)).close();
        }
    }

    private static void hold(SharedLock.Hold hold) {
        System.out.println("ready " + hold.wasAbandoned());
        while (ProcessHandle.current().parent().isPresent()) {
            LockSupport.parkNanos(100_000_000); // until it is killed
        }
        hold.close();
    }

    private static void write(SharedArray array) {
        System.out.println("ready");
        while (ProcessHandle.current().parent().isPresent()) {
            for (int i = 0; i < 1000; i++) {
                try (SharedLock.Hold hold = array.lock().writeLock(PATIENCE)) {
                    makeWhole(array, hold);
                    addOne(array);
                }
                array.lock().readLock(PATIENCE).close();
            }
        }
    }

    static void makeWhole(SharedArray array, SharedLock.Hold hold) {
        if (hold.wasAbandoned()) {
            array.fill(array.getLong(0));
            hold.markRepaired();
        }
    }

    static void addOne(SharedArray array) {
        for (long i = 0; i < array.elementCount(); i++) {
            array.setLongVolatile(i, array.getLong(i) + 1);
        }
    }

    private static void publish(SharedArray array) {
        System.out.println("ready");
        while (ProcessHandle.current().parent().isPresent()) {
            for (int i = 0; i < 100; i++) {
                array.publish(SharedChild::addOne, PATIENCE);
            }
        }
    }
}
