package dev.larder.bench.gpu;

import dev.larder.client.Dataset;
import dev.larder.loader.device.DeviceMode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Measures several trainers at the same time, each in its own process, on one store and one device. */
final class ProcessesPart {
    private static final String DATASET = "trainers";
    private static final int ROW_BYTES = 3_072;
    private static final int MOST = 8;

    private ProcessesPart() {}

    static void run(Bench bench) throws Exception {
        try (Dataset dataset = bench.store().publishRows(DATASET, bench.scale().arrayBytes(), ROW_BYTES)) {
            for (DeviceMode mode : List.of(DeviceMode.STREAM, DeviceMode.RESIDENT)) {
                double alone = Double.NaN;
                for (int count = 1; count <= most(); count *= 2) {
                    double rate = together(bench, dataset.name(), mode, count, alone);
                    alone = count == 1 ? rate : alone;
                }
            }
        } finally {
            bench.store().remove(DATASET);
        }
    }

    private static int most() {
        return Math.min(MOST, Runtime.getRuntime().availableProcessors());
    }

    private static double together(Bench bench, String dataset, DeviceMode mode, int count, double alone)
            throws Exception {
        List<Process> trainers = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                trainers.add(start(bench, dataset, mode));
            }
            long firstMs = 0;
            for (Process trainer : trainers) {
                firstMs = Math.max(firstMs, Long.parseLong(line(trainer)));
            }
            for (Process trainer : trainers) {
                go(trainer);
            }
            double rows = 0;
            for (Process trainer : trainers) {
                rows += Double.parseDouble(line(trainer));
            }
            double rate = rows * ROW_BYTES / 1e9;
            bench.report()
                    .add(Measurement.of(
                                    "trainers",
                                    mode.name().toLowerCase(Locale.ROOT) + ", " + count + " at a time, stored bytes",
                                    rate,
                                    "GB/s")
                            .beside(count == 1 ? Double.NaN : alone, count == 1 ? "" : "one trainer")
                            .noted(Math.round(rows) + " rows/s; slowest first batch after " + firstMs + " ms"));
            return rate;
        } finally {
            trainers.forEach(Process::destroy);
            for (Process trainer : trainers) {
                trainer.waitFor();
            }
        }
    }

    private static Process start(Bench bench, String dataset, DeviceMode mode) throws IOException {
        String java = System.getProperty("java.home") + "/bin/java";
        long runMs = bench.scale().each().toMillis() * bench.scale().rounds();
        List<String> command = List.of(
                java,
                "-Xmx256m",
                "-XX:-UsePerfData",
                "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-cp",
                System.getProperty("java.class.path"),
                TrainerProcess.class.getName(),
                bench.store().path().toString(),
                dataset,
                mode.name(),
                Integer.toString(bench.info().index()),
                Long.toString(bench.scale().batchBytes() / ROW_BYTES),
                Long.toString(runMs));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static String line(Process trainer) throws IOException {
        BufferedReader reader = trainer.inputReader(StandardCharsets.UTF_8);
        return Optional.ofNullable(reader.readLine())
                .orElseThrow(() -> new IllegalStateException("a trainer ended early: process=" + trainer));
    }

    private static void go(Process trainer) throws IOException {
        Writer writer = new OutputStreamWriter(trainer.getOutputStream(), StandardCharsets.UTF_8);
        writer.write("go\n");
        writer.flush();
    }
}
