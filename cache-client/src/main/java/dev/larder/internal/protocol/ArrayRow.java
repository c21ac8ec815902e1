package dev.larder.internal.protocol;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.message.OptionalField;
import dev.larder.npy.Dtype;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Describes one array, as in the output of {@code larder info}, or all arrays of a version.
 *
 * @param name dataset and array, separated by a slash
 * @param dtype numpy's {@code descr}: the bare string, or for structured types its list as JSON
 * @param order {@code 'C'} or {@code 'F'}
 * @param version 0 if nothing was loaded yet
 * @param digest of the whole version, in hex
 * @param leases processes that hold the version
 * @param path the resolved file; empty if there is none
 * @param offset offset of the data in the file
 * @param crc32c of the data, 8 hex digits
 * @param source the origin of the data; empty if it was computed
 * @param part its part in a column
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
        @OptionalField ColumnPart part) {
    private static final int MAX_NAME_BYTES = 1024;
    private static final int MAX_SOURCE_BYTES = 4 * 1024;
    private static final int MAX_DTYPE_BYTES = 32 * 1024;

    /** Copies the shape, and truncates a source that is too long for a message. */
    public ArrayRow {
        shape = List.copyOf(shape);
        source = MessageText.cut(source, MAX_SOURCE_BYTES);
        part = Objects.requireNonNullElse(part, ColumnPart.NONE);
    }

    /**
     * Returns whether this describes all arrays of a version: the name ends with the slash, the shape is their number, {@code bytes} their
     * sum, and the dtype is empty unless they share it.
     */
    public boolean isWholeVersion() {
        return name.endsWith("/");
    }

    /** Returns the text of a type for a row. A type with too long a text becomes bytes of the same length. */
    public static String dtypeText(Dtype dtype) {
        String text = wholeDtypeText(dtype);
        return utf8Length(text) <= MAX_DTYPE_BYTES ? text : "|V" + dtype.itemSize();
    }

    /** Returns the text of a name for a row, truncated if it is too long. */
    public static String nameText(String name) {
        return MessageText.cut(name, MAX_NAME_BYTES);
    }

    /** Returns the reason why no row can describe an array, or null if one can. */
    public static @Nullable String objection(String name, Dtype dtype) {
        int nameBytes = utf8Length(name);
        int dtypeBytes = utf8Length(wholeDtypeText(dtype));
        if (nameBytes > MAX_NAME_BYTES) {
            return "the names of its dataset and itself have " + nameBytes + " bytes together, more than the limit of "
                    + MAX_NAME_BYTES;
        }
        return dtypeBytes > MAX_DTYPE_BYTES
                ? "its dtype takes " + dtypeBytes + " bytes as JSON, more than the limit of " + MAX_DTYPE_BYTES
                : null;
    }

    private static String wholeDtypeText(Dtype dtype) {
        return dtype.fields().isEmpty() ? dtype.descr() : dtype.descrJson();
    }

    private static int utf8Length(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** The state of an array's bytes. */
    public enum State {
        /** In the store. */
        RESIDENT,
        /** Mapped in place, outside the store. */
        MAPPED,
        /** Being loaded. */
        LOADING,
        /** Known, but not loaded. */
        REGISTERED,
        /** No longer listed; removed when the last lease ends. */
        RETIRED,
        /** Rows that processes compute and write. The command finds them without the daemon. */
        COMPUTED,
        /** A state of a newer release. */
        OTHER;

        /** Returns the word in listings. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
