package dev.larder.server.loaders;

import dev.larder.internal.layout.LoaderDescriptor;

/**
 * A live loader, for display.
 *
 * @param id the name of its file
 * @param processStart in ticks since the boot; with its pid it identifies the process
 * @param program {@code java}, {@code python} or {@code feed}
 * @param feed the name of the feed that publishes its batches; empty if there is none
 * @param batches the batches that the trainer has taken
 * @param batchesPerSecond over the last seconds, as the bottleneck
 */
public record LoaderRow(
        String id,
        long pid,
        long processStart,
        String program,
        String dataset,
        String feed,
        int threads,
        int slots,
        long batches,
        double batchesPerSecond,
        Bottleneck bottleneck) {
    static LoaderRow of(LoaderSample now, LoaderWork work) {
        LoaderDescriptor.Facts facts = now.facts();
        String program = switch (facts.program()) {
            case LoaderDescriptor.PROGRAM_PYTHON -> "python";
            case LoaderDescriptor.PROGRAM_FEED -> "feed";
            default -> "java";
        };
        return new LoaderRow(
                now.file(),
                facts.pid(),
                facts.processStart(),
                program,
                facts.dataset(),
                facts.feed(),
                facts.threads(),
                facts.slots(),
                now.batches(),
                work.batches() / (work.window() / 1e9),
                Bottleneck.of(work));
    }
}
