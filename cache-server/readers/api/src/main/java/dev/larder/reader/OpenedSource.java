package dev.larder.reader;

import java.io.IOException;
import java.util.List;

/** Files that a reader has looked at. Used by one thread at a time. */
public interface OpenedSource extends AutoCloseable {
    /** Returns the arrays that the files have, in an order of its own. */
    List<Offer> offers();

    /**
     * Writes every byte of every offer that has no place in a file, each byte once, from as many threads as it likes. Returns when all are
     * written. Called at most once.
     *
     * @throws BadSource where a file cannot be read after all
     */
    void read(Output output) throws IOException;

    @Override
    void close() throws IOException;
}
