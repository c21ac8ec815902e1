package dev.larder.bench.gpu;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;

/**
 * One of several trainers, in its own process. It takes batches and does not use them.
 *
 * <p>Its arguments are the store, the dataset, the mode, the index of the device, the samples of a batch and the milliseconds to run. It
 * prints the milliseconds until the first batch, waits for a line, runs, and prints its samples per second.
 */
public final class TrainerProcess {
    private static final long MANY_BATCHES = 1L << 24;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private TrainerProcess() {}

    /** Runs the trainer. */
    public static void main(String[] words) throws Exception {
        long start = System.nanoTime();
        int batchSize = Integer.parseInt(words[4]);
        BufferedReader parent = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Larder larder = Larder.connect(Path.of(words[0]));
                Dataset dataset = larder.dataset(words[1]);
                Loader loader = Bench.loader(dataset, batchSize, Bench.TO_HALF)
                        .threads(Math.max(1, Bench.threads() / 2))
                        .sampler(new RandomRows(MANY_BATCHES * batchSize))
                        .device(Device.opencl().index(Integer.parseInt(words[3])))
                        .deviceMode(DeviceMode.valueOf(words[2]))
                        .build()) {
            Iterator<Batch> batches =
                    loader.epoch(ProcessHandle.current().pid()).iterator();
            batches.next().await(PATIENCE);
            System.out.println((System.nanoTime() - start) / 1_000_000);
            parent.readLine();
            System.out.println(samplesPerSecond(batches, Long.parseLong(words[5])));
        }
    }

    private static double samplesPerSecond(Iterator<Batch> batches, long runMs) {
        long start = System.nanoTime();
        long samples = 0;
        Batch batch;
        do {
            batch = batches.next();
            samples += batch.size();
        } while (System.nanoTime() - start < runMs * 1_000_000);
        batch.await(PATIENCE);
        return samples * 1e9 / (System.nanoTime() - start);
    }
}
