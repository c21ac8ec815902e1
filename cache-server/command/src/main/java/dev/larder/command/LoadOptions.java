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

    LoadRequest request(List<LoadRequest.Source> sources) {
        return new LoadRequest(sources, keys, workers);
    }
}
