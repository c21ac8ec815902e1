package dev.larder.server.source.text;

import dev.larder.column.ColumnBuilder;
import dev.larder.column.ColumnMemory;
import dev.larder.column.StringsBuilder;
import java.util.List;

/** Makes a column of texts of each column of a text file. A row without a cell has the empty text there. */
public final class StringsSink extends TextColumns<StringsBuilder> {
    /** A missing cell costs 8 bytes, though the file has nothing for it: so their number is limited by that of the others. */
    private static final long MOST_MISSING_EACH = 64;

    private static final long FREE_CELLS = 1L << 24;

    private final ColumnMemory memory;
    private long given;

    /** Keeps some columns; all of them if none is named. */
    public StringsSink(List<String> wanted, ColumnMemory memory) {
        super(wanted);
        this.memory = memory;
    }

    @Override
    boolean isTaken(int keptColumns) {
        return true;
    }

    @Override
    StringsBuilder start(String name, long emptyRows, Cell cell) {
        requireDense(emptyRows, cell);
        StringsBuilder column = new StringsBuilder(memory);
        while (column.size() < emptyRows) {
            column.add("");
        }
        return column;
    }

    @Override
    long size(StringsBuilder column) {
        return column.size();
    }

    @Override
    void add(StringsBuilder column, Cell cell, long row) {
        column.addUtf8(cell.utf8());
        given++;
    }

    @Override
    void addMissing(StringsBuilder column, String name, Cell cell) {
        requireDense(0, cell);
        column.add("");
    }

    private void requireDense(long more, Cell cell) {
        if (cellCount() + more > FREE_CELLS + MOST_MISSING_EACH * given) {
            throw cell.refusal("nearly all of its cells are missing");
        }
    }

    @Override
    ColumnBuilder builder(StringsBuilder column) {
        return column;
    }

    @Override
    void close(StringsBuilder column) {
        column.close();
    }
}
