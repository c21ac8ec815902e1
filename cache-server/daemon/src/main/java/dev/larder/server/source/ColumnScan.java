package dev.larder.server.source;

import dev.larder.column.ColumnArray;
import dev.larder.column.ColumnBuilder;
import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.layout.ArrayName;
import dev.larder.layout.ColumnPart;
import dev.larder.layout.Names;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Turns files into columns: what is computed is made here and now, what can be copied stays where it is. */
final class ColumnScan {
    private ColumnScan() {}

    static Source of(String dataset, Path path, SourceOptions options, ScanSettings settings) {
        return switch (options.as()) {
            case RAGGED -> RaggedScan.of(dataset, path, options, settings);
            case BYTES -> BytesScan.of(dataset, path, options, settings);
            case STRINGS, INDEX -> TextScan.of(dataset, path, options, settings);
            case ARRAYS -> throw new IllegalArgumentException("as=" + options.as());
        };
    }

    /** Returns the arrays of a column that was built; they own the memory of the builder from now on. */
    static List<SourceArray> arrays(String dataset, String column, ColumnBuilder builder, List<SourceIdentity> files) {
        List<SourceArray> arrays = new ArrayList<>();
        for (ColumnArray array : builder.arrays(column)) {
            arrays.add(new SourceArray(
                    new ArrayName(dataset, array.name()),
                    array.header(),
                    new BuiltData(array),
                    files,
                    ColumnPart.valueOf(array.part())));
        }
        return arrays;
    }

    static void requireColumnName(Path file, String column) {
        String objection = Names.arrayObjection(column);
        if (objection != null) {
            throw Refusal.of(file, 0, "its column cannot be called " + Names.printable(column) + ": " + objection);
        }
    }

    /** Ends a scan: returns the arrays, or fails with all that was wrong. */
    static Source source(Source found, List<LarderException> refusals) {
        if (!refusals.isEmpty()) {
            found.arrays().forEach(SourceArray::release);
            throw Refusal.all(found.name(), found.path(), refusals);
        }
        List<SourceArray> sorted = new ArrayList<>(found.arrays());
        sorted.sort(Comparator.comparing(array -> array.name().array()));
        return new Source(found.name(), found.path(), sorted, found.skippedFiles(), found.hiddenFiles());
    }

    static LarderException nothing(Path path, int skipped, int hidden, String remedy) {
        return Failure.of(ErrorCode.BAD_INPUT, "source has nothing to load")
                .with("path", path)
                .with("skippedFiles", skipped)
                .with("hiddenFiles", hidden)
                .remedy(remedy);
    }
}
