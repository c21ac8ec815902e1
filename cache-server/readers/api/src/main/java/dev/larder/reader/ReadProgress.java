package dev.larder.reader;

/** Is told how a reader advances. Thread-safe. */
@FunctionalInterface
public interface ReadProgress {
    /** Tells of more bytes of the source that were looked at. */
    void looked(long bytes);
}
