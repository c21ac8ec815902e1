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
 * Specifies computed rows: a region of the kind {@value #KIND} that keeps the rows that a function made of the rows of a dataset.
 * Offsets count from the start of the region's data; all integers are little-endian.
 *
 * <pre>
 *     0                 4                 8                 12                16
 *    +-----------------------------------+-----------------+-----------------+
 *  0 | magic "LARDERCR"                  | layout version  | length of text  |
 *    +-----------------------------------+-----------------+-----------------+
 * 16 | rows                              | bytes of a row                    |
 *    +-----------------------------------+-----------------------------------+
 * 32 | where the states begin            | where the rows begin              |
 *    +-----------------------------------+-----------------------------------+
 * 48 | CRC-32 of text  | 0               |                                   |
 *    +-----------------+-----------------+-----------------------------------+
 * 64 | text: UTF-8, lines of key=value                                       |
 *    +-----------------------------------------------------------------------+
 *    | states: an int64 for each row                                         |
 *    +-----------------------------------------------------------------------+
 *    | rows, one after the other, in C order; from 192 behind a page on      |
 *
 *  state   0 empty; {@link #PUBLISHED} + the CRC-32 of the row's bytes: published, and never changed afterwards
 * </pre>
 *
 * A row is written, then its state in one store with release order: whoever reads the state with acquire order sees the row. Only
 * the process that holds the row's claim writes either: an exclusive lock of byte <i>r</i> of the region's file, which is an
 * open-file-description lock and so ends with its holder. The holder looks at the state once more before it computes.
 *
 * <p>The checksum is CRC-32 as zlib has it, as that is what Python computes at the speed of memory.
 */
public final class RowsDescriptor {
    /** What regions of computed rows say that they are. */
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

    /** How long the text may be, in bytes. */
    public static final int TEXT_LIMIT = 1 << 16;

    /** How long a row may be, in bytes: processes hold one in an array. */
    public static final long MOST_ROW_BYTES = 1 << 30;

    /** How many hex digits of the key are in a region's name. */
    private static final int KEY_DIGITS = 16;

    private static final int STATES_ALIGNMENT = 64;

    private RowsDescriptor() {}

    /**
     * Says what rows are made of; rows with the same key are the same rows.
     *
     * @param digest that of the dataset's version
     * @param arrays the names of the arrays that the rows are made of, joined by commas
     * @param dtype numpy's {@code descr} as text
     * @param shape the dimensions of a row, joined by commas
     * @param steps what is done to them, or {@code version} and what their maker calls it
     */
    public record Key(String digest, String arrays, String dtype, String shape, String steps) {
        /** Refuses what would not be one line. */
        public Key {
            for (String part : new String[] {digest, arrays, dtype, shape, steps}) {
                if (part.chars().anyMatch(c -> c < ' ')) {
                    throw Failure.of(ErrorCode.USAGE, "a key of computed rows has a control character")
                            .with("key", Names.printable(part))
                            .remedy("leave line ends and the like out of versions");
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
     * @param statesStart where the states begin
     * @param dataStart where the rows begin
     */
    public record Header(long rows, long rowByteSize, long statesStart, long dataStart, Map<String, String> text) {
        /** Lays out rows of a name and a key. */
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

        /** Returns whether these are the rows that {@code wanted} describes, wherever in the region an earlier release put them. */
        public boolean isFor(Header wanted) {
            return rows == wanted.rows && rowByteSize == wanted.rowByteSize && text.equals(wanted.text);
        }

        /** Returns how long the region's data is. */
        public long byteSize() {
            return ByteSums.add(dataStart, ByteSums.multiply(rows, rowByteSize));
        }

        /** Returns what a line says; empty where there is none. */
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

    /** Returns the name of the region that has the rows of a name and a key: each key has its own, so none replaces another. */
    public static String regionName(String name, String key) {
        return name + "." + key.substring(0, Math.min(KEY_DIGITS, key.length()));
    }

    /** Returns the dimensions as a key has them. */
    public static String shapeText(long[] shape) {
        return Arrays.stream(shape).mapToObj(Long::toString).collect(Collectors.joining(","));
    }

    /** Turns the text of a header into its lines. */
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
