package dev.larder.reader;

import java.util.List;

/**
 * A request to read files.
 *
 * @param files in the order of their rows
 * @param as a word of {@code larder load --as}, such as {@code arrays} or {@code bytes}
 * @param columns the wanted arrays or columns, as {@link Selection} names them; empty for all
 * @param workers the most threads
 * @param decimals {@link #DOUBLES} if decimals become the nearest doubles; else they become integers without the point
 */
public record ReadRequest(List<InputFile> files, String as, List<String> columns, int workers, String decimals) {
    /** The word for decimals as doubles. */
    public static final String DOUBLES = "f8";

    /** Requests decimals as integers. */
    public ReadRequest(List<InputFile> files, String as, List<String> columns, int workers) {
        this(files, as, columns, workers, "");
    }

    /** Copies the lists. */
    public ReadRequest {
        files = List.copyOf(files);
        columns = List.copyOf(columns);
    }

    /** Returns whether an array or column is wanted, by the number of its file and its name without the level. */
    public boolean wants(int file, String name) {
        return new Selection(columns).wants(files.get(file).level() + name);
    }
}
