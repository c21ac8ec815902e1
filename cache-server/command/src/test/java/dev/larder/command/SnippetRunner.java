package dev.larder.command;

import dev.larder.client.Larder;
import dev.larder.loader.fanout.SharedBatch;
import dev.larder.loader.fanout.SharedBatches;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs the classes that were made of snippets, one after the other, and says of each on a line of its own how it ended. */
final class SnippetRunner {
    /** Begins the line that says that a snippet ended well. */
    static final String RAN = "@@ ran ";

    /** Begins the line that says that a snippet failed. */
    static final String FAILED = "@@ failed ";

    private static final int PATIENCE_S = 60;

    private SnippetRunner() {}

    /** Takes the names of the classes. */
    public static void main(String[] names) {
        ExecutorService runner = Executors.newCachedThreadPool();
        for (int consumer = 0; consumer < 2; consumer++) {
            runner.execute(SnippetRunner::consume);
        }
        for (String name : names) {
            Future<?> end = runner.submit(() -> {
                run(Class.forName(name));
                return null;
            });
            report(name, end);
        }
        System.exit(0); // what a snippet leaves open, as many do for brevity, ends here
    }

    private static void report(String name, Future<?> end) {
        try {
            end.get(PATIENCE_S, TimeUnit.SECONDS);
            System.out.println(RAN + name);
        } catch (ExecutionException e) {
            report(name, Objects.requireNonNullElse(e.getCause(), e));
        } catch (Exception e) {
            System.out.println(FAILED + name + " " + e);
        }
    }

    private static void report(String name, Throwable failure) {
        String reason = String.valueOf(failure.getMessage());
        if (reason.startsWith("no OpenCL") || reason.startsWith("no CUDA")) {
            System.out.println(RAN + name + " but for its device");
            return;
        }
        failure.printStackTrace();
        System.out.println(FAILED + name + " " + failure);
    }

    /** Takes part in the ring of batches that a document publishes. */
    private static void consume() {
        try (Larder larder = Larder.connect();
                SharedBatches batches = SharedBatches.attach(larder, "run1")) {
            batches.forEach(SharedBatch::size);
        }
    }

    private static void run(Class<?> snippet) throws Exception {
        if (!Surroundings.class.isAssignableFrom(snippet)) {
            snippet.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
            return;
        }
        try (Surroundings surroundings =
                (Surroundings) snippet.getDeclaredConstructor().newInstance()) {
            surroundings.block();
        }
    }
}
