package dev.larder.reader;

import java.io.IOException;
import java.util.List;

/** Files that a reader has looked at. Used by one thread at a time. */
public interface OpenedSource extends AutoCloseable {
    /** Returns the arrays that the files have, in an order of its own. */
    List<Offer> offers();

    /**
     * Writes every byte of every offer that is not in a file, each byte once, from any number of threads. Returns after the last byte. Called at most
     * once.
     *
     * @throws BadSource if a file turns out to be bad
     */
    void read(Output output) throws IOException;

    @Override
    void close() throws IOException;
}
