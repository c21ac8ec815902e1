package dev.larder.server.source.arrow;

import dev.larder.internal.column.BytesBuilder;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Structs of bytes and a path, as Hugging Face has images and sounds: a column of bytes, whose names are the paths. */
final class FilesColumn extends ArrowColumn {
    private static final String BYTES = "bytes";
    private static final String PATH = "path";

    private final String name;
    private final Nulls structs;
    private final TextColumn bytes;
    private final TextColumn paths;
    private final boolean isBytesFirst;
    private boolean isNamed;

    FilesColumn(String name, @Nullable Nulls above, ArrowField field) {
        List<ArrowField> children = field.children();
        this.name = name;
        this.structs = new Nulls(above);
        this.isBytesFirst = children.get(0).name().equals(BYTES);
        this.bytes = new TextColumn(name, new Nulls(structs), children.get(isBytesFirst ? 0 : 1));
        this.paths =
                new TextColumn(name + "/" + BytesBuilder.NAMES, new Nulls(null), children.get(isBytesFirst ? 1 : 0));
    }

    /** Tells whether a field is such a struct. */
    static boolean isSuch(ArrowField field) {
        List<ArrowField> children = field.children();
        return field.kind() == Kind.STRUCTS
                && children.size() == 2
                && children.stream().anyMatch(child -> isOf(child, Kind.BYTES, BYTES))
                && children.stream().anyMatch(child -> isOf(child, Kind.TEXTS, PATH));
    }

    private static boolean isOf(ArrowField child, Kind kind, String name) {
        return child.encoding() == null && child.kind() == kind && child.name().equals(name);
    }

    @Override
    void take(BatchCursor batch, long from, long to) {
        structs.take(batch, from, to);
        (isBytesFirst ? bytes : paths).take(batch, from, to);
        (isBytesFirst ? paths : bytes).take(batch, from, to);
        for (long row = from; row < to && !isNamed; row++) {
            isNamed = !structs.isNull(row) && !paths.nulls().isNull(row);
        }
        if (!bytes.nulls().anyHere()) {
            return;
        }
        for (long row = from; row < to; row++) {
            if (bytes.nulls().isNull(row)
                    && !structs.isNull(row)
                    && !paths.nulls().isNull(row)) {
                throw batch.file()
                        .refusal(
                                "column " + name + " has only the path of a file in row " + row + " of a batch, not its"
                                        + " bytes: load the files themselves, or have datasets.table.embed_table_storage put them"
                                        + " into the table");
            }
        }
    }

    @Override
    void addArrays(FoundArrays arrays) {
        bytes.addArrays(arrays);
        if (isNamed) {
            paths.addParts(arrays);
        }
    }
}
