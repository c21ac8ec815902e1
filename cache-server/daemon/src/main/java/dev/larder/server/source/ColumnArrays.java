package dev.larder.server.source;

import dev.larder.column.ColumnArray;
import dev.larder.column.ColumnBuilder;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The arrays of a column that a load computes. */
public final class ColumnArrays {
    private static final Pattern NOT_ALLOWED = Pattern.compile("[^\\p{L}\\p{Nd}+._=-]+");

    private ColumnArrays() {}

    /** Returns the arrays of a column that was built; they own the memory of the builder from now on. */
    public static List<SourceArray> of(
            String dataset, String column, ColumnBuilder builder, List<SourceIdentity> files) {
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

    /** Returns what a column is called: its name with _ in place of what no name may have, or another where nothing is left. */
    public static String cleanName(String column, String ifEmpty) {
        String name = NOT_ALLOWED.matcher(column).replaceAll("_").replaceAll("^_+|_+$", "");
        return name.isEmpty() || name.equals(".") || name.equals("..") ? ifEmpty : name;
    }

    /** Returns what an array with a name of its own is called: the name, else its levels with _ in place of what no name may have. */
    public static String levelledName(String name) {
        return Names.arrayObjection(name) == null
                ? name
                : Arrays.stream(name.split("/", -1))
                        .map(level -> cleanName(level, level))
                        .collect(Collectors.joining("/"));
    }

    /** Refuses a name that no column can have. */
    public static void requireName(Path file, String column) {
        String objection = Names.arrayObjection(column);
        if (objection != null) {
            throw Refusal.of(file, 0, "its column cannot be called " + Names.printable(column) + ": " + objection);
        }
    }
}
