package dev.larder.server.source;

import dev.larder.column.ColumnArray;
import dev.larder.column.ColumnBuilder;
import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.layout.ArrayName;
import dev.larder.layout.Names;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Turns files into columns: what is computed is made here and now, what can be copied stays where it is. */
final class ColumnScan {
    private static final int LISTED = 10;

    private ColumnScan() {}

    static Source of(String dataset, Path path, SourceOptions options) {
        return switch (options.as()) {
            case RAGGED -> RaggedScan.of(dataset, path, options);
            case BYTES -> BytesScan.of(dataset, path, options);
            case STRINGS, INDEX -> TextScan.of(dataset, path, options);
            case ARRAYS -> throw new IllegalArgumentException("as=" + options.as());
        };
    }

    /** Returns the arrays of a column that was built; they own the memory of the builder from now on. */
    static List<SourceArray> arrays(String dataset, String column, ColumnBuilder builder, List<SourceIdentity> files) {
        List<SourceArray> arrays = new ArrayList<>();
        for (ColumnArray array : builder.arrays(column)) {
            arrays.add(new SourceArray(
                    new ArrayName(dataset, array.name()), array.header(), new BuiltData(array), files, array.part()));
        }
        return arrays;
    }

    static void requireColumnName(Path file, String column) {
        String objection = Names.arrayObjection(column);
        if (objection != null) {
            throw Refusal.of(file, 0, "its column cannot be called " + Names.printable(column) + ": " + objection);
        }
    }

    /** Ends a scan: the arrays, or all that was wrong with the first bad files and how many there are. */
    static Source source(
            String dataset, Path path, List<SourceArray> arrays, List<LarderException> refusals, int skipped) {
        if (!refusals.isEmpty()) {
            arrays.forEach(SourceArray::release);
            throw refusals.size() <= LISTED ? Refusal.all(dataset, path, refusals) : many(dataset, path, refusals);
        }
        arrays.sort(Comparator.comparing(array -> array.name().array()));
        return new Source(dataset, path, arrays, skipped);
    }

    private static LarderException many(String dataset, Path path, List<LarderException> refusals) {
        StringBuilder lines = new StringBuilder();
        refusals.subList(0, LISTED).forEach(refusal -> lines.append("\n  ").append(refusal.getMessage()));
        return Failure.of(ErrorCode.BAD_INPUT, "cannot read source")
                .with("name", dataset)
                .with("path", path)
                .with("badFiles", refusals.size())
                .with("first", LISTED + lines.toString())
                .cause(refusals.get(0))
                .exception();
    }

    static LarderException nothing(Path path, int skipped, String remedy) {
        return Failure.of(ErrorCode.BAD_INPUT, "source has nothing to load")
                .with("path", path)
                .with("skippedFiles", skipped)
                .remedy(remedy);
    }
}
