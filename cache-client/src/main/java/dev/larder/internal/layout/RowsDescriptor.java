package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.CRC32;

/**
 * Specifies computed rows: a region of the kind {@value #KIND} with the results of a function for each row of a dataset. Offsets are
 * relative to the start of the region's data; all integers are little-endian.
 *
 * <pre>
 *     0                 4                 8                 12                16
 *    +-----------------------------------+-----------------+-----------------+
 *  0 | magic "LARDERCR"                  | layout version  | length of text  |
 *    +-----------------------------------+-----------------+-----------------+
 * 16 | rows                              | bytes of a row                    |
 *    +-----------------------------------+-----------------------------------+
 * 32 | offset of the states              | offset of the rows                |
 *    +-----------------------------------+-----------------------------------+
 * 48 | CRC-32 of text  | 0               |                                   |
 *    +-----------------+-----------------+-----------------------------------+
 * 64 | text: UTF-8, lines of key=value                                       |
 *    +-----------------------------------------------------------------------+
 *    | states: an int64 for each row                                         |
 *    +-----------------------------------------------------------------------+
 *    | rows, back to back, in C order; they start 192 bytes after a page     |
 *
 *  state   0 empty; {@link #PUBLISHED} + the CRC-32 of the row's bytes: published, and never changed afterwards
 * </pre>
 *
 * A process writes a row, then its state in one store with release order. A process that reads the state with acquire order sees the
 * whole row. Only the holder of the row's claim writes either. The claim is an exclusive lock of byte <i>r</i> of the region's file; it
 * is an open-file-description lock, so it ends with its holder. The holder reads the state once more before it computes.
 *
 * <p>To open the rows, a process finds the file, takes the lock id of {@code regions/locks} shared, and opens the file for reading and
 * writing. It starts again if the file has no link any more. While the first eight bytes are zeros, the daemon is reserving it: read them
 * with {@code pread}, wait, and start again. If the state of the region is not READY, the process takes the lock id + 1 and writes the
 * header, then the state; a process that died before wrote the same. Then it compares the header with the expected one.
 *
 * <p>A reader compares the checksum of a row that it reads for the first time, because every process of the owner can write here. A process
 * opens the file again after a fork: the locks belong to the open file description. If another process holds the claim of a row, a
 * process waits, or computes the row for itself and writes nothing.
 *
 * <p>The checksum is zlib's CRC-32, because Python computes that at memory speed.
 */
public final class RowsDescriptor {
    /** The kind of regions of computed rows. */
    public static final String KIND = "computed-rows";

    /** "LARDERCR" read as a little-endian integer. */
    public static final long MAGIC = 0x5243_5245_4452_414cL;

    public static final int LAYOUT_VERSION = 1;
    public static final int MAGIC_OFFSET = 0;
    public static final int LAYOUT_VERSION_OFFSET = MAGIC_OFFSET + Long.BYTES;
    public static final int TEXT_LENGTH_OFFSET = LAYOUT_VERSION_OFFSET + Integer.BYTES;
    public static final int ROWS_OFFSET = TEXT_LENGTH_OFFSET + Integer.BYTES;
    public static final int ROW_BYTES_OFFSET = ROWS_OFFSET + Long.BYTES;
    public static final int STATES_START_OFFSET = ROW_BYTES_OFFSET + Long.BYTES;
    public static final int DATA_START_OFFSET = STATES_START_OFFSET + Long.BYTES;
    public static final int TEXT_CRC_OFFSET = DATA_START_OFFSET + Long.BYTES;
    public static final int TEXT_OFFSET = 64;

    public static final long EMPTY = 0;
    public static final long PUBLISHED = 1L << 32;

    /** The maximum length of the text, in bytes. */
    public static final int TEXT_LIMIT = 1 << 16;

    /** The maximum length of a row, in bytes: a process reads one into an array. */
    public static final long MOST_ROW_BYTES = 1 << 30;

    /** Number of hex digits of the key in a region's name. */
    private static final int KEY_DIGITS = 16;

    private static final int STATES_ALIGNMENT = 64;

    private RowsDescriptor() {}

    /**
     * Identifies computed rows: rows with equal keys are the same rows.
     *
     * @param digest the digest of the dataset's version
     * @param arrays the names of the source arrays, joined by commas
     * @param dtype numpy's {@code descr} as text
     * @param shape the dimensions of a row, joined by commas
     * @param steps the transforms, or {@code version} and the version of the user's code
     */
    public record Key(String digest, String arrays, String dtype, String shape, String steps) {
        /** Refuses control characters, because each part becomes one line. */
        public Key {
            for (String part : new String[] {digest, arrays, dtype, shape, steps}) {
                if (part.chars().anyMatch(c -> c < ' ')) {
                    throw Failure.of(ErrorCode.USAGE, "a key of computed rows has a control character")
                            .with("key", Names.printable(part))
                            .remedy("remove line breaks and other control characters from the version");
                }
            }
        }

        /** Returns the SHA-256 of the parts, in hex. */
        public String hex() {
            String text = "computed rows 1\ndigest=" + digest + "\narrays=" + arrays + "\ndtype=" + dtype + "\nshape="
                    + shape + "\nsteps=" + steps + "\n";
            try {
                byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
                return HexFormat.of().formatHex(hash);
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every JDK has SHA-256", e);
            }
        }
    }

    /**
     * The header of a region.
     *
     * @param statesStart offset of the states
     * @param dataStart offset of the rows
     */
    public record Header(long rows, long rowByteSize, long statesStart, long dataStart, Map<String, String> text) {
        /** Computes the header of rows with a name and a key. */
        public static Header of(String name, Key key, long rows, long rowByteSize) {
            Map<String, String> text = new LinkedHashMap<>();
            text.put("name", name);
            text.put("key", key.hex());
            text.put("digest", key.digest());
            text.put("arrays", key.arrays());
            text.put("dtype", key.dtype());
            text.put("shape", key.shape());
            text.put("steps", key.steps());
            int length = encoded(text).length;
            if (length > TEXT_LIMIT) {
                throw Failure.of(ErrorCode.USAGE, "the description of computed rows is too long")
                        .with("name", name)
                        .with("bytes", length)
                        .with("limit", TEXT_LIMIT)
                        .remedy("use fewer steps, or a shorter version");
            }
            long states = ByteSums.roundUp(TEXT_OFFSET + length, STATES_ALIGNMENT);
            long end = ByteSums.add(states, ByteSums.multiply(rows, Long.BYTES));
            return new Header(rows, rowByteSize, states, StoreLayout.rowsStart(end), text);
        }

        /**
         * Returns whether these are the rows that {@code expected} describes. The offsets may differ, because earlier releases
         * placed the rows elsewhere.
         */
        public boolean isFor(Header expected) {
            return rows == expected.rows && rowByteSize == expected.rowByteSize && text.equals(expected.text);
        }

        /** Returns the length of the region's data. */
        public long byteSize() {
            return ByteSums.add(dataStart, ByteSums.multiply(rows, rowByteSize));
        }

        /** Returns the value of a line of the text; empty if there is none. */
        public String get(String line) {
            return text.getOrDefault(line, "");
        }

        /** Returns the dimensions of all rows together. */
        public long[] shape() {
            String shape = get("shape");
            long[] dimensions = shape.isEmpty()
                    ? new long[0]
                    : Arrays.stream(shape.split(",", -1))
                            .mapToLong(Long::parseLong)
                            .toArray();
            long[] all = new long[dimensions.length + 1];
            all[0] = rows;
            System.arraycopy(dimensions, 0, all, 1, dimensions.length);
            return all;
        }

        /** Returns the name of the region. */
        public String region() {
            return regionName(get("name"), get("key"));
        }

        /** Returns the bytes of the text. */
        public byte[] textBytes() {
            return encoded(text);
        }

        private static byte[] encoded(Map<String, String> text) {
            return text.entrySet().stream()
                    .map(line -> line.getKey() + "=" + line.getValue() + "\n")
                    .collect(Collectors.joining())
                    .getBytes(StandardCharsets.UTF_8);
        }
    }

    /** Returns the name of the region for a name and a key. Each key has its own region, so none replaces another. */
    public static String regionName(String name, String key) {
        return name + "." + key.substring(0, Math.min(KEY_DIGITS, key.length()));
    }

    /** Splits the text of a header into its lines. */
    public static Map<String, String> lines(byte[] text) {
        Map<String, String> lines = new LinkedHashMap<>();
        for (String line : new String(text, StandardCharsets.UTF_8).split("\n", -1)) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                lines.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        return lines;
    }

    /** Returns the checksum of the text. */
    public static int crc(byte[] text) {
        CRC32 crc = new CRC32();
        crc.update(text);
        return (int) crc.getValue();
    }
}
