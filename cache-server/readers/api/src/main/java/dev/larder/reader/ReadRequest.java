package dev.larder.reader;

import java.util.List;

/**
 * Says what is to be read.
 *
 * @param files in the order of their rows
 * @param as what becomes of them, in the words of {@code larder load --as}, such as {@code arrays} or {@code bytes}
 * @param columns the names of the only arrays or columns that are wanted, as {@link Selection} has them; empty for all
 * @param workers how many threads may work at once
 */
public record ReadRequest(List<InputFile> files, String as, List<String> columns, int workers) {
    /** Copies the lists. */
    public ReadRequest {
        files = List.copyOf(files);
        columns = List.copyOf(columns);
    }

    /** Tells whether an array or column is wanted, by the number of its file and its name without the level. */
    public boolean wants(int file, String name) {
        return new Selection(columns).wants(files.get(file).level() + name);
    }
}
