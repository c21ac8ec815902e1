package dev.larder.server.source;

import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.ColumnBuilder;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.reader.Selection;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The arrays of a column that a load computes. */
public final class ColumnArrays {
    private ColumnArrays() {}

    /** Returns the arrays of a built column. They own the memory of the builder from now on. */
    public static List<SourceArray> of(
            String dataset, String column, ColumnBuilder builder, List<SourceIdentity> files) {
        List<SourceArray> arrays = new ArrayList<>();
        for (ColumnArray array : builder.arrays(column)) {
            arrays.add(new SourceArray(
                    new ArrayName(dataset, array.name()),
                    array.header(),
                    ArrayData.of(array),
                    files,
                    ColumnPart.valueOf(array.part())));
        }
        return arrays;
    }

    /** Returns the arrays of a column of texts. */
    public static List<SourceArray> ofTexts(
            String dataset, String column, Iterable<String> texts, List<SourceIdentity> files, ColumnMemory memory) {
        StringsBuilder builder = new StringsBuilder(memory);
        try {
            texts.forEach(builder::add);
            return of(dataset, column, builder, files);
        } catch (RuntimeException | Error e) {
            builder.close();
            throw e;
        }
    }

    /** Returns the stored name of a column, without levels; {@code ifEmpty} if none of its characters is allowed. */
    public static String cleanName(String column, String ifEmpty) {
        String name = Selection.storedName(column).replace('/', '_');
        boolean isEmpty = name.chars().allMatch(c -> c == '_') && column.chars().noneMatch(c -> c == '_');
        return isEmpty || name.equals(".") || name.equals("..") ? ifEmpty : name;
    }

    /** Refuses a name that no column can have. */
    public static void requireName(Path file, String column) {
        String objection = Names.arrayObjection(column);
        if (objection != null) {
            throw Refusal.of(file, 0, "its column cannot be called " + Names.printable(column) + ": " + objection);
        }
    }
}
