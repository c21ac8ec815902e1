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
            names = "--strict",
            description =
                    "Tell whether sources have changed by every byte of them, not by size, time, inode and samples.")
    boolean strict;

    @Option(
            names = "--in-place",
            description =
                    "Copy nothing: map local files where they lie, for what is larger than memory. They must not be"
                            + " changed while they are loaded.")
    boolean inPlace;

    LoadRequest request(List<LoadRequest.Source> sources) {
        return new LoadRequest(sources, options(), workers);
    }

    private dev.larder.protocol.LoadOptions options() {
        return dev.larder.protocol.LoadOptions.none()
                .withKeys(keys)
                .withStrict(strict)
                .withInPlace(inPlace);
    }
}
