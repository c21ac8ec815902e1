package dev.larder.server.source.arrow;

import dev.larder.internal.column.BytesBuilder;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Structs of bytes and a path, as Hugging Face stores images and sounds: a column of bytes, named by the paths. */
final class FilesColumn extends FieldColumn {
    private static final String BYTES = "bytes";
    private static final String PATH = "path";

    private final VariableColumn bytes;
    private final VariableColumn paths;
    private final boolean isBytesFirst;
    private boolean isNamed;

    FilesColumn(String name, @Nullable Nulls above, ArrowField field) {
        super(name, above);
        List<ArrowField> children = field.children();
        this.isBytesFirst = children.get(0).name().equals(BYTES);
        this.bytes = new VariableColumn(name, nulls, children.get(isBytesFirst ? 0 : 1));
        this.paths = new VariableColumn(name + "/" + BytesBuilder.NAMES, null, children.get(isBytesFirst ? 1 : 0));
    }

    /** Returns whether a field has such structs. */
    static boolean fits(ArrowField field) {
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
    void takeRows(BatchCursor batch, long from, long to) {
        (isBytesFirst ? bytes : paths).take(batch, from, to);
        (isBytesFirst ? paths : bytes).take(batch, from, to);
        for (long row = from; row < to && !(isNamed && !bytes.nulls.anyHere()); row++) {
            boolean hasPath = !nulls.isNull(row) && !paths.nulls.isNull(row);
            isNamed |= hasPath;
            if (hasPath && bytes.nulls.isNull(row)) {
                throw batch.refusal("column " + name + " has only the path of a file in row " + row
                        + " of a batch, not its bytes: load the files themselves, or have"
                        + " datasets.table.embed_table_storage put them into the table");
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
