package dev.larder.server.source.text;

import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.nio.file.Path;
import java.util.List;

/** Takes the cells of a text file row by row, and makes columns of them. Owns what it has made until then. */
public interface CellSink extends AutoCloseable {
    /** Tells whether cells of a column matter. */
    boolean isWanted(String column);

    /** Tells of a column before any row, in the order of the file. */
    void column(String name);

    /**
     * Takes a cell of the current row.
     *
     * @param isInteger whether the text stands for an integer of 64 bits and is written as one usually is
     */
    void cell(String column, String text, boolean isInteger);

    /** Ends the current row; a column that had no cell in it is empty there. */
    void endRow();

    /** Returns the arrays of all columns, which own the memory from now on. */
    List<SourceArray> arrays(String dataset, String prefix, Path file, List<SourceIdentity> identity);

    @Override
    void close();
}
