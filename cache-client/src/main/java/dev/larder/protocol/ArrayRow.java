package dev.larder.protocol;

import dev.larder.layout.ColumnPart;
import java.util.List;
import java.util.Locale;

/**
 * Describes one array, as {@code info} prints it.
 *
 * @param name dataset and array, with a slash between them
 * @param dtype numpy's {@code descr}: the bare string, or for structured types its list as JSON
 * @param order {@code 'C'} or {@code 'F'}
 * @param version 0 where nothing was loaded yet
 * @param digest of the whole version, in hex
 * @param leases processes that hold the version
 * @param path the resolved file; empty where there is none
 * @param offset where data starts in it
 * @param crc32c of the data, 8 hex digits
 * @param source where it came from; empty for what was computed
 * @param part the part it plays in a column
 */
public record ArrayRow(
        String name,
        String dtype,
        List<Long> shape,
        char order,
        long bytes,
        long version,
        String digest,
        State state,
        boolean pinned,
        int leases,
        String path,
        long offset,
        String crc32c,
        String source,
        ColumnPart part)
        implements Response {
    /** Describes an array that is no part of a column. */
    public ArrayRow(
            String name,
            String dtype,
            List<Long> shape,
            char order,
            long bytes,
            long version,
            String digest,
            State state,
            boolean pinned,
            int leases,
            String path,
            long offset,
            String crc32c,
            String source) {
        this(
                name,
                dtype,
                shape,
                order,
                bytes,
                version,
                digest,
                state,
                pinned,
                leases,
                path,
                offset,
                crc32c,
                source,
                ColumnPart.NONE);
    }

    /** Copies the shape. */
    public ArrayRow {
        shape = List.copyOf(shape);
    }

    /** Where the bytes of an array are. */
    public enum State {
        /** In the store. */
        RESIDENT,
        /** Mapped where they lie, outside the store. */
        MAPPED,
        /** On their way. */
        LOADING,
        /** Known, not loaded. */
        REGISTERED,
        /** Out of the listings; gone when the last lease ends. */
        RETIRED,
        /** Something that only a later version has a word for. */
        OTHER;

        /** Returns the word that listings show. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
