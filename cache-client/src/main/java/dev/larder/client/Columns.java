package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.IndexReader;
import dev.larder.npy.Order;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The columns of a dataset and the one view of each. Guarded by the dataset's lock. */
final class Columns {
    private static final int LISTED = 10;

    private final Dataset dataset;
    private final IndexReader index;
    private final Map<String, Object> views = new HashMap<>();

    Columns(Dataset dataset, IndexReader index) {
        this.dataset = dataset;
        this.index = index;
    }

    /** Returns all columns, sorted by name. */
    List<Column> all() {
        return IntStream.range(0, index.arrayCount())
                .mapToObj(index::array)
                .filter(entry -> isFirst(entry.part()))
                .map(entry -> new Column(entry.part().columnName(entry.name()), kind(entry.part())))
                .sorted(Comparator.comparing(Column::name))
                .toList();
    }

    /** Returns the view of a column. Every caller gets the same one. */
    <T> T open(String name, Column.Kind kind, Class<T> type) {
        Objects.requireNonNull(name, "the column's name is null");
        Object known = views.get(name);
        if (!type.isInstance(known)) {
            requireKind(name, kind);
            known = switch (kind) {
                case RAGGED -> new RaggedColumn(dataset, name);
                case STRINGS -> new StringsColumn(dataset, name);
                case INDEX -> IndexColumn.of(dataset, name);
                case BYTES -> new BytesColumn(dataset, name);
            };
            views.put(name, known);
        }
        return type.cast(known);
    }

    /** Returns the view of the array that is this part of the column. */
    static ArrayView part(Dataset dataset, String column, ColumnPart part) {
        return dataset.array(part.arrayName(column));
    }

    /** Returns whether a column has this optional part. */
    boolean has(String column, ColumnPart part) {
        ArrayEntry entry = index.find(part.arrayName(column));
        return entry != null && entry.part() == part;
    }

    /** Refuses a column whose arrays do not fit together. */
    static void require(boolean sound, Dataset dataset, String column, String problem) {
        if (!sound) {
            throw damaged(dataset, column, problem);
        }
    }

    /** Refuses a part whose dtype or number of dimensions differs from the format. A null dtype accepts any. */
    static void require(Dataset dataset, String column, ArrayView part, @Nullable String dtype, int dimensions) {
        require(
                (dtype == null || part.dtype().descr().equals(dtype))
                        && part.dimensions() == dimensions
                        && (dimensions == 1 || part.order() == Order.C),
                dataset,
                column,
                "array " + part.name() + " is " + part.dtype().descr() + " with " + part.dimensions()
                        + " dimensions, order " + part.order());
    }

    static LarderException damaged(Dataset dataset, String column, String problem) {
        return Failure.of(ErrorCode.CHECKSUM, "column is damaged")
                .with("dataset", dataset.name())
                .with("version", dataset.version())
                .with("column", column)
                .with("problem", problem)
                .remedy(Remedy.reload(dataset.name()));
    }

    /** Returns the kind of a column: the preferred one if a column of this name has it. Returns null if there is no such column. */
    Column.@Nullable Kind kindOf(String name, Column.@Nullable Kind preferred) {
        Column.Kind found = null;
        for (ColumnPart part : ColumnPart.values()) {
            if (isFirst(part) && has(name, part)) {
                found = kind(part);
                if (found == preferred) {
                    break;
                }
            }
        }
        return found;
    }

    private void requireKind(String name, Column.Kind expected) {
        Column.Kind found = kindOf(name, expected);
        if (found == expected) {
            return;
        }
        Failure failure = Failure.of(
                        found == null ? ErrorCode.NOT_FOUND : ErrorCode.BAD_INPUT,
                        found == null ? "no such column" : "column is of another kind")
                .with("dataset", dataset.name())
                .with("version", dataset.version())
                .with("column", name)
                .with("store", dataset.store());
        throw found == null
                ? failure.remedy("there are " + listed())
                : failure.with("kind", found.word())
                        .with("asked", expected.word())
                        .remedy("open it with Dataset." + found.word() + "(\"" + name + "\")");
    }

    private String listed() {
        List<Column> all = dataset.columns();
        return all.isEmpty()
                ? "no columns"
                : all.stream().limit(LISTED).map(Column::toString).collect(Collectors.joining(", "))
                        + (all.size() > LISTED ? ", … (" + all.size() + ")" : "");
    }

    /** Returns whether a part identifies a column: every column has exactly one of these parts. */
    private static boolean isFirst(ColumnPart part) {
        return switch (part) {
            case RAGGED_VALUES, STRINGS_BYTES, INDEX_SLOTS, BYTES_VALUES -> true;
            default -> false;
        };
    }

    private static Column.Kind kind(ColumnPart part) {
        return Column.Kind.of(part.kind());
    }
}
