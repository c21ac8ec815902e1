package dev.larder.command.output;

import dev.larder.client.Column;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.internal.protocol.ArrayRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One line of a listing: an array, a dataset that is not in memory, or a column with all of its arrays.
 *
 * @param name dataset and array or column, with a slash between them; only the dataset if it is not in memory
 * @param column the kind of column; null for other lines
 * @param arrays the array, or all arrays of the column or dataset; of a dataset the daemon may have counted them into one row
 */
public record ListedRow(String name, Column.@Nullable Kind column, List<ArrayRow> arrays) {
    /** In a list of all datasets, a dataset with more arrays and columns is one line. */
    public static final int FEW = 20;

    private static final String NAMES = "/names";

    public ListedRow {
        arrays = List.copyOf(arrays);
    }

    /**
     * Returns the lines of arrays, in their order. A column takes the place of its first array. Each array of an incomplete column has
     * its own line.
     */
    public static List<ListedRow> of(List<ArrayRow> rows) {
        Map<List<Object>, List<ArrayRow>> byName = new LinkedHashMap<>();
        for (ArrayRow row : rows) {
            byName.computeIfAbsent(key(row, columnOf(row)), key -> new ArrayList<>())
                    .add(row);
        }
        List<ListedRow> listed = new ArrayList<>();
        for (List<ArrayRow> arrays : byName.values()) {
            String name = columnOf(arrays.get(0));
            if (!isColumn(arrays)) {
                arrays.forEach(array -> listed.add(ofArray(array)));
            } else if (!isNamesOfBytes(arrays, byName)) {
                Column.Kind kind = kind(arrays);
                List<ArrayRow> all = new ArrayList<>(arrays);
                if (kind == Column.Kind.BYTES) {
                    all.addAll(byName.getOrDefault(key(arrays.get(0), name + NAMES), List.of()));
                }
                listed.add(new ListedRow(name, kind, all));
            }
        }
        return listed;
    }

    private static Column.@Nullable Kind kind(List<ArrayRow> arrays) {
        ColumnPart part = arrays.get(0).part();
        return part == ColumnPart.NONE ? null : Column.Kind.of(part.kind());
    }

    /** Returns whether these are all arrays of a column of their kind, at least two. */
    private static boolean isColumn(List<ArrayRow> arrays) {
        Column.Kind kind = kind(arrays);
        return kind != null && arrays.size() >= (kind == Column.Kind.RAGGED ? 3 : 2);
    }

    /** Returns whether arrays are the column of strings with the names of a bytes column, which are one line. */
    private static boolean isNamesOfBytes(List<ArrayRow> arrays, Map<List<Object>, List<ArrayRow>> byName) {
        ArrayRow first = arrays.get(0);
        String name = columnOf(first);
        if (!name.endsWith(NAMES)) {
            return false;
        }
        List<ArrayRow> files = byName.get(key(first, name.substring(0, name.length() - NAMES.length())));
        return files != null && isColumn(files) && kind(files) == Column.Kind.BYTES;
    }

    /** Returns the line of a single array, even if it is part of a column. */
    public static ListedRow ofArray(ArrayRow array) {
        return new ListedRow(array.name(), null, List.of(array));
    }

    /** Returns the lines, with one for each dataset that has many arrays and columns. */
    public static List<ListedRow> brief(List<ListedRow> rows) {
        Map<String, List<ListedRow>> datasets = rows.stream()
                .collect(Collectors.groupingBy(ListedRow::dataset, LinkedHashMap::new, Collectors.toList()));
        return datasets.entrySet().stream()
                .flatMap(dataset -> dataset.getValue().size() <= FEW
                        ? dataset.getValue().stream()
                        : Stream.of(whole(dataset.getKey(), dataset.getValue())))
                .toList();
    }

    private static ListedRow whole(String dataset, List<ListedRow> rows) {
        List<ArrayRow> arrays =
                rows.stream().flatMap(row -> row.arrays.stream()).toList();
        Optional<ArrayRow> counted =
                arrays.stream().filter(ArrayRow::isWholeVersion).findFirst();
        return new ListedRow(
                dataset + "/", null, counted.map(List::of).orElse(arrays)); // the others are of its next version
    }

    /** Returns whether this stands for all arrays of a dataset. */
    public boolean isWholeDataset() {
        return name.endsWith("/");
    }

    private static String columnOf(ArrayRow row) {
        return row.part().columnName(row.name());
    }

    private static List<Object> key(ArrayRow row, String name) {
        return List.of(name, row.version(), row.state());
    }

    /** Returns the array, or the first one of a column, for facts that all arrays of a version share. */
    ArrayRow first() {
        return arrays.get(0);
    }

    public String dataset() {
        return Names.datasetIn(name);
    }

    /** Returns whether it is a dataset that is not in memory. */
    boolean isOnlyKnown() {
        return first().dtype().isEmpty() && first().state() == ArrayRow.State.REGISTERED;
    }

    /** Returns whether the daemon has counted the arrays of a dataset. */
    private boolean isCounted() {
        return arrays.size() == 1 && first().isWholeVersion();
    }

    /** Returns the dtype of an array, the kind of a column. */
    public String type() {
        if (isOnlyKnown()) {
            return "-";
        } else if (isCounted()) {
            return first().dtype().isEmpty() ? "-" : first().dtype();
        } else if (isWholeDataset()) {
            List<String> types =
                    of(arrays).stream().map(ListedRow::type).distinct().toList();
            return types.size() == 1 ? types.get(0) : "-";
        } else if (column == null) {
            return first().dtype();
        }
        return arrays.stream()
                .filter(row -> row.part() == ColumnPart.RAGGED_VALUES)
                .map(row -> column.word() + " " + row.dtype())
                .findFirst()
                .orElse(column.word());
    }

    /** Returns the shape of an array, or the number of rows of a column. */
    String extent() {
        if (isOnlyKnown()) {
            return first().version() == 0 ? "registered" : "evicted";
        } else if (isCounted()) {
            return first().shape().get(0) + " arrays";
        } else if (isWholeDataset()) {
            List<ListedRow> all = of(arrays);
            long columns = all.stream().filter(row -> row.column != null).count();
            return columns == 0
                    ? all.size() + " arrays"
                    : columns == all.size()
                            ? columns + " columns"
                            : count(all.size() - columns, "array") + ", " + count(columns, "column");
        } else if (column == null) {
            return ArrayText.shape(first().shape());
        }
        return count(rows(), column == Column.Kind.INDEX ? "key" : "row");
    }

    private static String count(long number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }

    /** Returns the number of rows or keys of a column; 0 if it is unknown. */
    long rows() {
        for (ArrayRow row : arrays) {
            long length = row.shape().isEmpty() ? 0 : row.shape().get(0);
            switch (row.part()) {
                case RAGGED_OFFSETS, STRINGS_OFFSETS, BYTES_OFFSETS -> {
                    return Math.max(0, length - 1);
                }
                case INDEX_POSITIONS, INDEX_ENTRIES -> {
                    return length;
                }
                default -> {}
            }
        }
        return 0;
    }

    long bytes() {
        return arrays.stream().mapToLong(ArrayRow::bytes).sum();
    }

    String source() {
        return arrays.stream()
                .map(ArrayRow::source)
                .filter(source -> !source.isEmpty())
                .distinct()
                .collect(Collectors.joining(" "));
    }
}
