package dev.larder.server.source.text;

import dev.larder.internal.column.ColumnArray;
import java.nio.file.Path;
import java.util.List;

/** Makes columns of the cells of a text file, row by row. Owns their memory until {@link #arrays}. */
public interface CellSink extends AutoCloseable {
    /** Returns whether a first line of numbers is a row, not a line without the names of columns. */
    default boolean takesNumbersFirst() {
        return false;
    }

    /**
     * Adds the next column of a table before its first row.
     *
     * @param name its name in the file; empty if it has none
     * @return its number for {@link #add}; below 0 if its cells are not wanted
     */
    int declare(int column, String name, Cell cell);

    /** Returns the number of the column that a key of JSON names; below 0 if its cells are not wanted. */
    default int column(String name, Cell cell) {
        throw new UnsupportedOperationException("columns of numbers are declared");
    }

    /** Takes a cell of the current row. */
    void add(int column, Cell cell);

    /** Ends the current row. A column without a cell in it is empty there. */
    void endRow(Cell cell);

    /** Returns the arrays of all columns, which own the memory from now on. Refusals name the file. */
    List<ColumnArray> arrays(Path file);

    @Override
    void close();
}
