package dev.larder.server.source.text;

import dev.larder.column.ColumnBuilder;
import dev.larder.column.ColumnMemory;
import dev.larder.column.IntegerIndexBuilder;
import dev.larder.column.TextIndexBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes an index of some columns of a text file, else of its first: each cell leads to the number of its row. */
public final class IndexSink extends TextColumns<IndexSink.Keys> {
    private final ColumnMemory memory;
    private final NumberText number = new NumberText();

    public IndexSink(List<String> wanted, ColumnMemory memory) {
        super(wanted);
        this.memory = memory;
    }

    @Override
    boolean isTaken(int keptColumns) {
        return keptColumns == 0;
    }

    @Override
    Keys start(String name, long emptyRows, Cell cell) {
        if (emptyRows > 0) {
            throw cell.refusal("the rows before it have no value for " + name + ", and an index needs one in each row");
        }
        return new Keys(memory);
    }

    @Override
    long size(Keys column) {
        return column.texts.size();
    }

    @Override
    void add(Keys column, Cell cell, long row) {
        column.texts.addUtf8(cell.utf8(), row);
        if (column.integers != null) {
            if (!cell.isString() && number.read(cell) == NumberText.Kind.INTEGER && isCanonical(cell)) {
                column.integers.add(number.integer(), row);
            } else {
                column.integers.close();
                column.integers = null;
            }
        }
    }

    /** Returns whether an integer is written as it is printed, so that it can be had back from its value. */
    private static boolean isCanonical(Cell cell) {
        byte[] text = cell.bytes();
        boolean isNegative = text[cell.start()] == '-';
        int first = isNegative ? cell.start() + 1 : cell.start();
        boolean isZero = text[first] == '0' && !isNegative && first + 1 == cell.end();
        return isZero || (text[first] >= '1' && text[first] <= '9' && text[cell.end() - 1] >= '0');
    }

    @Override
    void addMissing(Keys column, String name, Cell cell) {
        throw cell.refusal("it has no value for " + name + ", and an index needs one in each row");
    }

    @Override
    ColumnBuilder builder(Keys column) {
        return column.narrowest();
    }

    @Override
    void close(Keys column) {
        column.close();
    }

    /** Keys of one column: integers as long as all of them are. */
    static final class Keys {
        private final TextIndexBuilder texts;
        private @Nullable IntegerIndexBuilder integers;

        Keys(ColumnMemory memory) {
            this.texts = new TextIndexBuilder(memory);
            this.integers = new IntegerIndexBuilder(memory);
        }

        /** Returns the builder that is left, and closes the other. */
        private ColumnBuilder narrowest() {
            if (integers == null || texts.size() == 0) {
                return texts;
            }
            texts.close();
            return integers;
        }

        private void close() {
            texts.close();
            if (integers != null) {
                integers.close();
            }
        }
    }
}
