package dev.larder.server.source.arrow;

/** Makes arrays of one field: is told where the field lies in each batch, and keeps no more than that. Not thread-safe. */
abstract class ArrowColumn implements AutoCloseable {
    /** Says which field of the next file it is read from. */
    void enter(ArrowField field) {}

    /** Takes some rows of a batch; its field comes next, and all that it is made of is gone through. */
    abstract void take(BatchCursor batch, long from, long to);

    /** Hands over the arrays. */
    abstract void addArrays(FoundArrays arrays);

    /** Gives up memory that no array has taken over. Idempotent. */
    @Override
    public void close() {}
}
