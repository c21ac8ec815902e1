package dev.larder.command;

import dev.larder.protocol.LoadRequest;
import java.util.List;
import picocli.CommandLine.Option;

/** What {@code load} and {@code serve --load} share. */
final class LoadOptions {
    @Option(
            names = "--keys",
            paramLabel = "KEY",
            split = ",",
            description = "Of a folder load only files whose names end in _KEY, as in --keys rgb,depth.")
    List<String> keys = List.of();

    @Option(
            names = "--workers",
            paramLabel = "N",
            defaultValue = "auto",
            converter = WorkersConverter.class,
            description = "Threads that read and copy; auto or -1: one for each processor (the default).")
    int workers;

    @Option(
            names = "--dtype",
            paramLabel = "D",
            defaultValue = "",
            description =
                    "Element type of raw binary files (uint8, float32, >i2, …); a table becomes one matrix of it.")
    String dtype;

    @Option(
            names = "--shape",
            paramLabel = "N,M,…",
            defaultValue = "",
            description =
                    "Shape of raw binary files, as in --shape -1,28,28: one number may be -1. Default: one dimension.")
    String shape;

    LoadRequest request(List<LoadRequest.Source> sources) {
        dev.larder.protocol.LoadOptions options =
                dev.larder.protocol.LoadOptions.none().withKeys(keys).withElements(dtype, shape);
        return new LoadRequest(StandardInput.expand(sources), options, workers);
    }
}
