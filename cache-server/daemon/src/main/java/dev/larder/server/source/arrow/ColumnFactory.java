package dev.larder.server.source.arrow;

import dev.larder.internal.column.ColumnMemory;
import dev.larder.reader.Selection;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Kind;
import dev.larder.reader.arrow.TensorType;
import dev.larder.server.source.ColumnArrays;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes the columns of the fields that a load wants, and collects their dictionaries and classes. */
final class ColumnFactory {
    private final Selection.Table search;
    private final ColumnMemory memory;
    private final List<CodesColumn> codes = new ArrayList<>();
    private final Map<String, List<String>> labels = new LinkedHashMap<>();

    ColumnFactory(Selection.Table search, ColumnMemory memory) {
        this.search = search;
        this.memory = memory;
    }

    /** Returns the columns that have dictionaries. */
    List<CodesColumn> codes() {
        return codes;
    }

    /** Returns the names of classes by the columns of their numbers. */
    Map<String, List<String>> labels() {
        return labels;
    }

    /** Returns whether a load wants a field, or a part of it. */
    boolean wants(String name, ArrowField field) {
        if (search.wants(name)) {
            return true;
        }
        List<ArrowField> parts = parts(field);
        for (int i = 0; i < parts.size(); i++) {
            if (wants(nameOf(name, field, i), parts.get(i))) {
                return true;
            }
        }
        return false;
    }

    /** Notes the names of a field and of its parts for the search. */
    void note(String name, ArrowField field) {
        if (search.isForAll()) {
            return;
        }
        search.note(name);
        List<ArrowField> parts = parts(field);
        for (int i = 0; i < parts.size(); i++) {
            note(nameOf(name, field, i), parts.get(i));
        }
    }

    /** Returns the fields that become columns of their own. */
    private static List<ArrowField> parts(ArrowField field) {
        boolean isGroup = field.encoding() == null
                && switch (field.kind()) {
                    case STRUCTS -> !FilesColumn.fits(field);
                    case LISTS, FIXED_LISTS -> !field.isListOfNumbers();
                    default -> false;
                };
        return isGroup ? field.children() : List.of();
    }

    private static String nameOf(String name, ArrowField field, int part) {
        return field.kind() == Kind.STRUCTS
                ? name + "/" + ColumnArrays.cleanName(field.children().get(part).name(), "field" + part)
                : name + GroupColumn.ITEMS;
    }

    /**
     * Makes the column of a field, which the caller closes. Fails with {@link FieldColumn.Unfit} if no array can hold its type.
     *
     * @param above the nulls of the struct that contains the field, if any
     */
    FieldColumn column(String name, ArrowField field, Features features, @Nullable Nulls above) {
        List<String> classes = features.classes();
        if (classes != null) {
            labels.put(name, classes);
        }
        if (field.encoding() != null) {
            return codes(name, field, above);
        } else if (FilesColumn.fits(field)) {
            return new FilesColumn(name, above, field);
        } else if (!parts(field).isEmpty()) {
            return group(name, field, features, above);
        }
        return switch (field.kind()) {
            case FIXED, NARROW, BITS, DECIMALS -> new FlatColumn(name, above, List.of(), new long[0], field);
            case NULLS -> new NullColumn(name, above);
            case FIXED_BYTES -> new FlatColumn(name, above, List.of(), new long[] {field.size()}, field);
            case TEXTS, BYTES -> new VariableColumn(name, above, field);
            case TEXT_VIEWS, BYTES_VIEWS -> new ViewColumn(name, above, field, memory);
            case LISTS, FIXED_LISTS -> numbers(name, field, features, above);
            default -> throw new FieldColumn.Unfit(name, field.words());
        };
    }

    private FieldColumn codes(String name, ArrowField field, @Nullable Nulls above) {
        if (!CodesColumn.isReadable(field)) {
            throw new FieldColumn.Unfit(name, field.words());
        }
        CodesColumn column = new CodesColumn(name, above, field);
        codes.add(column);
        return column;
    }

    /** Makes the columns of the fields of a struct, or of the items of lists. The nulls of lists are not those of the items. */
    private FieldColumn group(String name, ArrowField field, Features features, @Nullable Nulls above) {
        boolean isStruct = field.kind() == Kind.STRUCTS;
        GroupColumn group = new GroupColumn(name, above, field);
        try {
            for (int i = 0; i < field.children().size(); i++) {
                ArrowField child = field.children().get(i);
                String its = nameOf(name, field, i);
                if (!isStruct) {
                    group.add(i, column(its, child, features.ofElements(), null));
                } else if (wants(its, child)) {
                    group.add(i, column(its, child, features.of(child.name()), group.nulls));
                }
            }
            return group;
        } catch (RuntimeException e) {
            group.close();
            throw e;
        }
    }

    /** Makes the column of lists of numbers, of any depth. */
    private FieldColumn numbers(String name, ArrowField field, Features features, @Nullable Nulls above) {
        List<ArrowField> levels = new ArrayList<>();
        ArrowField inner = field;
        Features its = features;
        for (; inner.isPlainList(); inner = inner.children().get(0)) {
            TensorType tensor = TensorType.of(inner);
            if (tensor != null && tensor.isTransposed()) {
                throw new FieldColumn.Unfit(name, tensor.words());
            }
            levels.add(inner);
            its = its.ofElements();
        }
        List<String> classes = its.classes();
        if (classes != null) {
            labels.put(name, classes);
        }
        if (levels.stream().allMatch(level -> level.kind() == Kind.FIXED_LISTS)) {
            TensorType tensor = levels.size() == 1 ? TensorType.of(field) : null;
            long[] shape = tensor == null
                    ? levels.stream().mapToLong(ArrowField::size).toArray()
                    : tensor.shape().stream().mapToLong(Long::longValue).toArray();
            return new FlatColumn(name, above, levels, shape, inner);
        }
        long[] declared = features.shape(levels.size());
        if (levels.size() == 1 && declared == null) {
            return new VariableColumn(name, above, field);
        } else if (levels.stream().anyMatch(level -> level.kind() == Kind.FIXED_LISTS && level.size() == 0)) {
            throw new FieldColumn.Unfit(name, field.words());
        }
        return new NestedColumn(name, above, levels, inner, declared, memory);
    }
}
