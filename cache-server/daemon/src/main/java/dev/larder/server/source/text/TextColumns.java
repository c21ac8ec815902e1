package dev.larder.server.source.text;

import dev.larder.error.LarderException;
import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.ColumnBuilder;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.IntegerIndexBuilder;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.internal.column.TextIndexBuilder;
import dev.larder.server.source.Refusal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes columns of texts, or indices, of the columns of a text file. A row without a cell has the empty text there. An index maps the cell of each row to
 * the number of the row, and needs one in each.
 */
public final class TextColumns implements CellSink {
    /** A missing cell costs 8 bytes, though the file has nothing for it: so their number is limited by that of the others. */
    private static final long MOST_MISSING_EACH = 64;

    private static final long FREE_CELLS = 1L << 24;
    private static final int MAX_COLUMNS = 10_000;
    private static final String NEEDS_KEYS = ", and an index needs one in each row";

    private final List<String> wanted;
    private final boolean isIndex;
    private final ColumnMemory memory;
    private final NumberText number = new NumberText();
    private final Map<String, Integer> places = new LinkedHashMap<>();
    private final List<Column> columns = new ArrayList<>();
    private final Set<String> others = new LinkedHashSet<>();
    private long rows;
    private long given;

    /** Keeps some columns; if none is named, all as texts, or the first as an index. */
    public TextColumns(List<String> wanted, boolean isIndex, ColumnMemory memory) {
        this.wanted = wanted;
        this.isIndex = isIndex;
        this.memory = memory;
    }

    @Override
    public int declare(int column, String name, Cell cell) {
        String stored = ColumnGroups.name(column, name);
        if (places.containsKey(stored)) {
            throw cell.refusal("two columns have the same name: " + stored);
        }
        return column(stored, cell);
    }

    @Override
    public int column(String name, Cell cell) {
        Integer known = places.get(name);
        if (known != null) {
            return known;
        } else if (wanted.isEmpty() ? isIndex && !columns.isEmpty() : !wanted.contains(name)) {
            if (others.size() < MAX_COLUMNS) {
                others.add(name);
            }
            return -1;
        } else if (columns.size() == MAX_COLUMNS) {
            throw cell.refusal("there are more than " + MAX_COLUMNS + " columns");
        } else if (isIndex && rows > 0) {
            throw cell.refusal("the rows before it have no value for " + name + NEEDS_KEYS);
        }
        requireDense(rows, cell);
        columns.add(new Column(name));
        places.put(name, columns.size() - 1);
        return columns.size() - 1;
    }

    private void requireDense(long moreCells, Cell cell) {
        if (rows * columns.size() + moreCells > FREE_CELLS + MOST_MISSING_EACH * given) {
            throw cell.refusal("nearly all of its cells are missing");
        }
    }

    @Override
    public void add(int place, Cell cell) {
        Column column = columns.get(place);
        if (column.builder.size() > rows) {
            throw cell.refusal("it has two values for " + column.name);
        }
        column.add(cell);
        given++;
    }

    @Override
    public void endRow(Cell cell) {
        rows++;
        for (Column column : columns) {
            if (column.builder.size() < rows) {
                if (isIndex) {
                    throw cell.refusal("it has no value for " + column.name + NEEDS_KEYS);
                }
                requireDense(0, cell);
                column.addMissing();
            }
        }
    }

    @Override
    public List<ColumnArray> arrays(Path file) {
        List<String> missing =
                wanted.stream().filter(name -> !places.containsKey(name)).toList();
        if (!missing.isEmpty()) {
            List<String> present = new ArrayList<>(places.keySet());
            present.addAll(others);
            throw Refusal.noColumns(file, missing, present);
        }
        List<ColumnArray> arrays = new ArrayList<>();
        for (Column column : columns) {
            try {
                arrays.addAll(column.narrowest().arrays(column.name));
            } catch (LarderException e) {
                throw Refusal.of(file, 0, e.getMessage() == null ? "a key occurs twice" : e.getMessage());
            }
        }
        return arrays;
    }

    @Override
    public void close() {
        columns.forEach(Column::close);
    }

    /** A column, whose keys are integers as long as all of them are. */
    private final class Column {
        private final String name;
        private final ColumnBuilder builder;
        private @Nullable IntegerIndexBuilder integers;

        Column(String name) {
            this.name = name;
            this.builder = isIndex ? new TextIndexBuilder(memory) : new StringsBuilder(memory);
            this.integers = isIndex ? new IntegerIndexBuilder(memory) : null;
            while (builder.size() < rows) {
                addMissing();
            }
        }

        void add(Cell cell) {
            if (builder instanceof TextIndexBuilder keys) {
                keys.addUtf8(cell.utf8(), rows);
            } else if (builder instanceof StringsBuilder texts) {
                texts.addUtf8(cell.utf8());
            }
            if (integers == null) {
                return;
            } else if (isInteger(cell)) {
                integers.add(number.integer(), rows);
            } else {
                integers.close();
                integers = null;
            }
        }

        /** Returns whether a key is an integer, written as it is printed, so that it can be had back from its value. */
        private boolean isInteger(Cell cell) {
            if (cell.isString() || number.read(cell) != NumberText.Kind.INTEGER) {
                return false;
            }
            byte[] text = cell.bytes();
            boolean isNegative = text[cell.start()] == '-';
            int first = isNegative ? cell.start() + 1 : cell.start();
            boolean isZero = text[first] == '0' && !isNegative && first + 1 == cell.end();
            return isZero || (text[first] >= '1' && text[cell.end() - 1] >= '0');
        }

        void addMissing() {
            if (builder instanceof StringsBuilder texts) {
                texts.add("");
            }
        }

        /** Returns the builder of the narrowest type, and closes the other. */
        ColumnBuilder narrowest() {
            if (integers == null || builder.size() == 0) {
                return builder;
            }
            builder.close();
            return integers;
        }

        void close() {
            builder.close();
            if (integers != null) {
                integers.close();
            }
        }
    }
}
