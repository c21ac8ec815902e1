package dev.larder.server.source.arrow;

import dev.larder.internal.column.ColumnMemory;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Kind;
import dev.larder.reader.arrow.TensorType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Chooses what a field becomes, and knows afterwards which fields become nothing, and which numbers stand for classes. */
final class ColumnFactory {
    private final FieldChoice choice;
    private final ColumnMemory memory;
    private final List<CodesColumn> codes = new ArrayList<>();
    private final Map<String, List<String>> labels = new LinkedHashMap<>();
    private final Set<String> refused = new TreeSet<>();

    ColumnFactory(FieldChoice choice, ColumnMemory memory) {
        this.choice = choice;
        this.memory = memory;
    }

    /** Returns the columns that have dictionaries. */
    List<CodesColumn> codes() {
        return codes;
    }

    /** Returns the names of classes, by the names of the columns whose numbers stand for them. */
    Map<String, List<String>> labels() {
        return labels;
    }

    /** Returns the types, in words, of which no column can be made, of what was asked for since this was asked last. */
    Set<String> takeRefused() {
        Set<String> taken = Set.copyOf(refused);
        refused.clear();
        return taken;
    }

    /**
     * Makes the column of a field, which the caller closes; null where there is none for it.
     *
     * @param above the nulls of what it is a part of
     */
    @Nullable
    ArrowColumn column(String name, ArrowField field, Features features, @Nullable Nulls above) {
        List<String> classes = features.classes();
        if (classes != null) {
            labels.put(name, classes);
        }
        if (field.encoding() != null) {
            return codes(name, field, above);
        }
        return switch (field.kind()) {
            case FIXED, NARROW, BITS ->
                new FlatColumn(name, new Nulls(above), new int[0], new long[0], new Elements(field));
            case FIXED_BYTES ->
                new FlatColumn(name, new Nulls(above), new int[0], new long[] {field.size()}, new Elements(field));
            case TEXTS, BYTES -> new TextColumn(name, new Nulls(above), field);
            case TEXT_VIEWS, BYTES_VIEWS -> new ViewColumn(name, new Nulls(above), field, memory);
            case LISTS, FIXED_LISTS -> list(name, field, features, above);
            case STRUCTS ->
                FilesColumn.isSuch(field) ? new FilesColumn(name, above, field) : struct(name, field, features, above);
            default -> refuse(field);
        };
    }

    private @Nullable ArrowColumn refuse(ArrowField field) {
        refused.add(field.words());
        return null;
    }

    private @Nullable ArrowColumn codes(String name, ArrowField field, @Nullable Nulls above) {
        if (!CodesColumn.isReadable(field)) {
            return refuse(field);
        }
        CodesColumn column = new CodesColumn(name, new Nulls(above), field);
        codes.add(column);
        return column;
    }

    private @Nullable ArrowColumn struct(String name, ArrowField field, Features features, @Nullable Nulls above) {
        if (field.children().isEmpty()) {
            return refuse(field);
        }
        Nulls nulls = new Nulls(above);
        List<ArrowColumn> parts = new ArrayList<>();
        for (ArrowField child : field.children()) {
            String its = FieldChoice.nameOf(name, field, parts.size());
            ArrowColumn part = choice.takes(its, child)
                    ? column(its, child, features.of(child.name()), nulls)
                    : new SkippedColumn(child);
            if (part == null) {
                parts.forEach(ArrowColumn::close);
                return null;
            }
            parts.add(part);
        }
        return new StructColumn(nulls, parts);
    }

    private @Nullable ArrowColumn list(String name, ArrowField field, Features features, @Nullable Nulls above) {
        List<ArrowField> levels = new ArrayList<>();
        ArrowField inner = field;
        Features its = features;
        while (inner.isPlainList()) {
            levels.add(inner);
            its = its.ofElements();
            inner = inner.children().get(0);
        }
        if (!field.isListOfNumbers()) {
            ArrowColumn items =
                    column(name + ItemsColumn.ITEMS, field.children().get(0), features.ofElements(), null);
            return items == null ? null : new ItemsColumn(name, new Nulls(above), field, items);
        }
        List<String> classes = its.classes();
        if (classes != null) {
            labels.put(name, classes);
        }
        return numbers(name, levels, inner, features, above);
    }

    private @Nullable ArrowColumn numbers(
            String name, List<ArrowField> levels, ArrowField inner, Features features, @Nullable Nulls above) {
        Nulls nulls = new Nulls(above);
        for (ArrowField level : levels) {
            TensorType tensor = TensorType.of(level);
            if (tensor != null && tensor.isTransposed()) {
                refused.add(tensor.words());
                return null;
            }
        }
        if (levels.stream().allMatch(level -> level.kind() == Kind.FIXED_LISTS)) {
            int[] sizes = levels.stream().mapToInt(ArrowField::size).toArray();
            TensorType tensor = levels.size() == 1 ? TensorType.of(levels.get(0)) : null;
            List<Long> shape = tensor == null
                    ? levels.stream().map(level -> (long) level.size()).toList()
                    : tensor.shape();
            return new FlatColumn(
                    name,
                    nulls,
                    sizes,
                    shape.stream().mapToLong(Long::longValue).toArray(),
                    new Elements(inner));
        }
        long[] declared = features.shape(levels.size());
        if (levels.size() == 1 && declared == null) {
            return new ListColumn(name, nulls, levels.get(0));
        } else if (levels.stream().anyMatch(level -> level.kind() == Kind.FIXED_LISTS && level.size() == 0)) {
            return refuse(levels.get(0));
        }
        return new NestedColumn(name, nulls, levels, new Elements(inner), declared, memory);
    }
}
