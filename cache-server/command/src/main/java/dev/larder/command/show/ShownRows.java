package dev.larder.command.show;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.Optional;
import java.util.stream.Stream;

/** Formats rows of an array or of a column. */
public sealed interface ShownRows permits ArrayRows, ColumnRows {
    /** Returns the number of rows; 1 for an array without dimensions. */
    long count();

    /** Returns a line about the array or column and its shown rows, from {@code first} to before {@code end}. */
    String head(long first, long end);

    /** Returns the lines of some rows. */
    Stream<String> lines(long first, long end);

    /** Writes the first keys of an object: those of the array or column, and the values of some rows. */
    void write(JsonWriter json, long first, long end) throws IOException;

    /** Returns the elements of all rows, if one array has them. */
    Optional<Cells> cells();
}
