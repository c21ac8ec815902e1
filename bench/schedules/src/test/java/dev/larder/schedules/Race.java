package dev.larder.schedules;

import java.util.ArrayList;
import java.util.List;
import org.pastalab.fray.runtime.Runtime;

/** Threads that run together, and what is done before and after. */
public final class Race {
    private static final String ALONE = "Race.alone";

    private Race() {}

    /** Something that may fail. */
    @FunctionalInterface
    public interface Part {
        /** Does it. */
        void run() throws Exception;
    }

    /** Runs each part on its own thread, and waits for all. Fray reports what one of them throws. */
    public static void run(Part... parts) {
        List<Thread> threads = new ArrayList<>();
        for (Part part : parts) {
            threads.add(new Thread(() -> call(part), "part-" + threads.size()));
        }
        threads.forEach(Thread::start);
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Does something while no other thread runs, without asking Fray who is next: that takes most of the time. */
    public static void alone(Part part) {
        Runtime.onSkipPrimitive(ALONE);
        try {
            call(part);
        } finally {
            Runtime.onSkipPrimitiveDone(ALONE);
        }
    }

    private static void call(Part part) {
        try {
            part.run();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Fails with these words unless something holds. */
    public static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
