package dev.larder.reader;

import java.io.IOException;

/**
 * Reads files of one format. {@link java.util.ServiceLoader} finds it, in a process that reads one source and ends. It may print to standard error;
 * failures quote the end of that.
 */
public interface FormatReader {
    /** Returns the kind of sources that it reads. Its folder below {@code lib/readers} has the same name. */
    String kind();

    /**
     * Finds the arrays in files, with exact shapes.
     *
     * @param request the files, and the wanted columns
     * @param progress takes every step; the daemon kills a reader without progress
     * @throws BadSource if a file cannot be read, with the file, the place and the reason
     */
    OpenedSource open(ReadRequest request, ReadProgress progress) throws IOException;
}
