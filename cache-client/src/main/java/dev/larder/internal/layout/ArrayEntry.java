package dev.larder.internal.layout;

import java.util.HexFormat;

/**
 * Describes one array of a version, as in the index and the manifest.
 *
 * @param name its name within the dataset
 * @param dtype numpy's {@code descr} in text form
 * @param order {@code 'C'} or {@code 'F'}
 * @param shape its dimensions; not copied, so callers must not change it
 * @param file its segment, relative to the version's folder
 * @param offset offset of the data in the segment, in bytes
 * @param byteSize the length of the data
 * @param crc32c the checksum of the data
 * @param part its part in a column
 */
@SuppressWarnings("ArrayRecordComponent") // entries are compared by digest, never by equals
public record ArrayEntry(
        String name,
        String dtype,
        char order,
        long[] shape,
        String file,
        long offset,
        long byteSize,
        int crc32c,
        ColumnPart part) {
    /** Describes an array that is not part of a column. */
    public ArrayEntry(
            String name, String dtype, char order, long[] shape, String file, long offset, long byteSize, int crc32c) {
        this(name, dtype, order, shape, file, offset, byteSize, crc32c, ColumnPart.NONE);
    }

    /** Returns the checksum as in manifests and listings: eight hex digits. */
    public String crc32cHex() {
        return HexFormat.of().toHexDigits(crc32c);
    }
}
