package dev.larder.command.demo;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import dev.larder.loader.Loader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Path;

/** One of the trainers of the demo: reads an epoch of shuffled batches, reports, and holds the dataset until its input ends. */
public final class DemoReader {
    private static final int BATCH = 256;

    private DemoReader() {}

    /**
     * The report of a reader, one line of text.
     *
     * @param rows rows of the epoch
     * @param labelSum the sum of their labels, which is the same in every order
     * @param millis the time from the first call of the loader to the last batch
     */
    public record Report(long rows, long labelSum, long millis) {
        /** Parses {@link #line}. */
        public static Report parse(String line) {
            String[] words = line.split(" ", -1);
            return new Report(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]));
        }

        String line() {
            return rows + " " + labelSum + " " + millis;
        }
    }

    /** Reads the dataset {@code demo} of a store in an order that depends on the seed. */
    public static void run(Path store, long seed, InputStream in, PrintWriter out) throws IOException {
        try (Larder larder = Larder.connect(store);
                Dataset dataset = larder.dataset("demo")) {
            long start = System.nanoTime();
            long rows = 0;
            long labelSum = 0;
            try (Loader loader = Loader.over(dataset)
                    .arrays("image", "label")
                    .shuffle(seed)
                    .batchSize(BATCH)
                    .build()) {
                for (Batch batch : loader.epoch(0)) {
                    BatchArray labels = batch.array("label");
                    for (int i = 0; i < batch.size(); i++) {
                        labelSum += labels.getLong(i);
                    }
                    rows += batch.size();
                }
                out.println(new Report(rows, labelSum, (System.nanoTime() - start) / 1_000_000).line());
                out.flush();
                in.transferTo(OutputStream.nullOutputStream());
            }
        }
    }
}
