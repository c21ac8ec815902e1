package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Turns files into columns: what is computed is made here and now, what can be copied stays where it is. */
final class ColumnScan {
    private ColumnScan() {}

    static ScannedSource of(String dataset, Path path, SourceOptions options, ScanSettings settings) {
        boolean hasType = options.as() == LoadOptions.As.RAGGED; // of raw bytes, which become rows
        if (!options.dtype().isEmpty() && !hasType) {
            throw Failure.of(
                            ErrorCode.USAGE,
                            "--dtype cannot be used with --as "
                                    + options.as().name().toLowerCase(Locale.ROOT))
                    .with("dtype", options.dtype())
                    .remedy("load it without one of the two");
        }
        return switch (options.as()) {
            case RAGGED -> RaggedScan.of(dataset, path, options, settings);
            case BYTES -> BytesScan.of(dataset, path, options, settings);
            case IMAGES -> ImagesScan.of(dataset, path, options, settings);
            case STRINGS, INDEX -> TextScan.of(dataset, path, options, settings);
            case ARRAYS -> throw new IllegalArgumentException("as=" + options.as());
        };
    }

    /** Ends a scan: returns the arrays, or fails with all that was wrong. */
    static ScannedSource source(ScannedSource found, List<LarderException> refusals) {
        ScannedSource.refuseClashes(found.arrays(), refusals);
        if (!refusals.isEmpty()) {
            found.arrays().forEach(SourceArray::release);
            throw Refusal.all(found.name(), found.path(), refusals);
        }
        List<SourceArray> sorted = new ArrayList<>(found.arrays());
        sorted.sort(Comparator.comparing(array -> array.name().array()));
        return new ScannedSource(
                found.name(), found.path(), sorted, found.skippedFiles(), found.hiddenFiles(), found.notes());
    }

    static LarderException nothing(Path path, int skipped, int hidden, String remedy) {
        return Failure.of(ErrorCode.BAD_INPUT, "source has nothing to load")
                .with("path", path)
                .with("skippedFiles", skipped)
                .with("hiddenFiles", hidden)
                .remedy(remedy);
    }
}
