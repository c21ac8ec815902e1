package dev.larder.reader;

import java.io.IOException;

/**
 * Reads files of one format. Found by {@link java.util.ServiceLoader}, in a process that reads one source and ends. What it prints
 * goes to standard error, of which the end is quoted where it fails.
 */
public interface FormatReader {
    /** Returns the kind of sources that it reads, which is what its folder below {@code lib/readers} is called. */
    String kind();

    /**
     * Looks at files: finds out what arrays they have, with exact shapes.
     *
     * @param request the files and what is wanted of them
     * @param progress to be told of every step; who is silent for too long is killed
     * @throws BadSource where a file cannot be read, with the file, the place and the reason
     */
    OpenedSource open(ReadRequest request, ReadProgress progress) throws IOException;
}
