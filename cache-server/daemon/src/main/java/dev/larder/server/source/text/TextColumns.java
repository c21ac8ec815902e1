package dev.larder.server.source.text;

import dev.larder.column.ColumnBuilder;
import dev.larder.error.LarderException;
import dev.larder.server.source.Refusal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Columns of texts, found by their names, that each become the same kind of column.
 *
 * @param <C> builds one column
 */
abstract class TextColumns<C> implements CellSink {
    private static final int MAX_COLUMNS = 10_000;

    private final List<String> wanted;
    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> names = new ArrayList<>();
    private final List<C> columns = new ArrayList<>();
    private final Set<String> others = new LinkedHashSet<>();
    private long rows;

    /** Keeps some columns; those that {@link #isTaken} if none is named. */
    TextColumns(List<String> wanted) {
        this.wanted = wanted;
    }

    /** Returns whether to keep a column if no names were given. */
    abstract boolean isTaken(int keptColumns);

    /** Starts a column that the rows before have no cell in. */
    abstract C start(String name, long emptyRows, Cell cell);

    abstract long size(C column);

    abstract void add(C column, Cell cell, long row);

    /** Completes a column after a row without a cell in it. */
    abstract void addMissing(C column, String name, Cell cell);

    abstract ColumnBuilder builder(C column);

    abstract void close(C column);

    @Override
    public int declare(int column, String name, Cell cell) {
        String stored = ColumnGroups.name(column, name);
        if (numbers.containsKey(stored)) {
            throw cell.refusal("two columns have the same name: " + stored);
        }
        return column(stored, cell);
    }

    @Override
    public int column(String name, Cell cell) {
        Integer known = numbers.get(name);
        if (known != null) {
            return known;
        } else if (wanted.isEmpty() ? !isTaken(columns.size()) : !wanted.contains(name)) {
            if (others.size() < MAX_COLUMNS) {
                others.add(name);
            }
            return -1;
        } else if (columns.size() == MAX_COLUMNS) {
            throw cell.refusal("there are more than " + MAX_COLUMNS + " columns");
        }
        columns.add(start(name, rows, cell));
        numbers.put(name, names.size());
        names.add(name);
        return columns.size() - 1;
    }

    @Override
    public void add(int column, Cell cell) {
        C found = columns.get(column);
        if (size(found) > rows) {
            throw cell.refusal("it has two values for " + names.get(column));
        }
        add(found, cell, rows);
    }

    @Override
    public void endRow(Cell cell) {
        rows++;
        for (int i = 0; i < columns.size(); i++) {
            C column = columns.get(i);
            if (size(column) < rows) {
                addMissing(column, names.get(i), cell);
            }
        }
    }

    long cellCount() {
        return rows * columns.size();
    }

    @Override
    public List<BuiltArray> arrays(Path file) {
        List<String> missing =
                wanted.stream().filter(name -> !numbers.containsKey(name)).toList();
        if (!missing.isEmpty()) {
            List<String> present = new ArrayList<>(names);
            present.addAll(others);
            throw Refusal.noColumns(file, missing, present);
        }
        List<BuiltArray> arrays = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            try {
                arrays.addAll(BuiltArray.of(names.get(i), builder(columns.get(i))));
            } catch (LarderException e) {
                throw Refusal.of(file, 0, e.getMessage() == null ? "a key occurs twice" : e.getMessage());
            }
        }
        return arrays;
    }

    @Override
    public void close() {
        columns.forEach(this::close);
    }
}
