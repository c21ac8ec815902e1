package dev.larder.reader;

/** Counts the progress of a reader. Thread-safe. */
@FunctionalInterface
public interface ReadProgress {
    /** Adds bytes of the source that were read. */
    void looked(long bytes);
}
