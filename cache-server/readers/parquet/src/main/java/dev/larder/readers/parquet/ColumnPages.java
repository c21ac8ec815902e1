package dev.larder.readers.parquet;

import dev.hardwood.metadata.ColumnChunk;
import dev.hardwood.metadata.CompressionCodec;
import dev.larder.reader.BadSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checks the headers of all pages of a column in a row group before the library reads them: it takes memory for any length in a header, and its
 * Snappy may write beyond a buffer.
 */
final class ColumnPages {
    private static final int MOST_HEADER_BYTES = 1 << 20;

    /** The copies of a page in memory: packed, unpacked and decoded, for several threads. */
    private static final int HEAP_PARTS = 4;

    /** The heap for a decoded value: itself, and two levels. */
    private static final int VALUE_BYTES = 16;

    private static final int DATA_PAGE = 0;
    private static final int DICTIONARY_PAGE = 2;
    private static final int DATA_PAGE_V2 = 3;

    /** The encodings of plain values, and of the two kinds of levels as runs. */
    private static final long[] PLAIN = {0, 3, 3};

    /** The greatest ratio of unpacked to packed bytes; the other codecs have no limit. */
    private static final Map<CompressionCodec, Integer> MOST_TIMES = Map.of(
            CompressionCodec.UNCOMPRESSED, 1,
            CompressionCodec.SNAPPY, 22,
            CompressionCodec.LZ4, 256,
            CompressionCodec.LZ4_RAW, 256,
            CompressionCodec.GZIP, 1040);

    private final CheckedFile file;
    private final ColumnChunk column;
    private final long start;
    private final ByteBuffer bytes;
    private final Map<Long, Long> lengths = new HashMap<>();
    private final List<DataPage> withRows = new ArrayList<>();
    private @Nullable ByteBuffer dictionary;

    /** Reports a page that contradicts its header. */
    static final class BadPage extends IOException {
        private static final long serialVersionUID = 1;
        private final long offset;

        BadPage(long offset, String reason) {
            super(reason);
            this.offset = offset;
        }

        /** Returns where in the file the page begins. */
        long offset() {
            return offset;
        }
    }

    /** The header of a page. */
    private static final class Header implements CompactFields.Numbers {
        private long type = -1;
        private long unpackedBytes;
        private long packedBytes;
        private long values;
        private long levelBytes;
        private boolean isPacked = true;
        private boolean hasChecksum;
        private final long[] encodings = new long[3];

        @Override
        public void take(int outer, int id, long value) {
            switch (outer * 10 + id) {
                case 1 -> type = value;
                case 2 -> unpackedBytes = value;
                case 3 -> packedBytes = value;
                case 4 -> hasChecksum = true;
                case 51, 71, 81 -> values = value;
                case 52, 53, 54 -> encodings[id - 2] = value;
                case 85, 86 -> levelBytes += value < 0 ? Integer.MAX_VALUE : value;
                case 87 -> isPacked = value != 0;
                default -> {} // nothing that is needed here
            }
        }

        boolean hasRows() {
            return type == DATA_PAGE || type == DATA_PAGE_V2;
        }

        /** Returns whether it is a page of version 1 with plain values, runs of levels, and no checksum to compare. */
        boolean isPlain() {
            return type == DATA_PAGE && !hasChecksum && Arrays.equals(encodings, PLAIN);
        }
    }

    /**
     * A page that has rows.
     *
     * @param whole its header and its data
     * @param isPlain whether its data, unpacked, are runs of levels and plain values
     */
    record DataPage(ByteBuffer whole, ByteBuffer packed, boolean isPlain, int values, int unpackedBytes) {}

    private ColumnPages(CheckedFile file, ColumnChunk column) throws IOException {
        this.file = file;
        this.column = column;
        this.start = column.chunkStartOffset();
        this.bytes = column.metaData().numValues() > 0
                ? file.readRange(start, Math.toIntExact(column.metaData().totalCompressedSize()))
                : ByteBuffer.allocate(0);
    }

    /** Checks the pages of a column; fails if one contradicts its header. */
    static ColumnPages of(CheckedFile file, ColumnChunk column) throws IOException {
        ColumnPages pages = new ColumnPages(file, column);
        if (column.metaData().numValues() > 0) {
            pages.requirePages();
            pages.requireIndex();
        }
        return pages;
    }

    /** Returns the pages that have rows. */
    List<DataPage> withRows() {
        return withRows;
    }

    /** Returns the page of the dictionary, with its header; null if there is none. */
    @Nullable
    ByteBuffer dictionary() {
        return dictionary;
    }

    private void requirePages() throws IOException {
        long most = column.metaData().numValues();
        long values = 0;
        int position = 0;
        while (position < bytes.limit() && values < most) {
            int left = bytes.limit() - position;
            ByteBuffer in = bytes.slice(position, Math.min(left, MOST_HEADER_BYTES));
            Header header = new Header();
            try {
                new CompactFields(in).struct(header);
            } catch (IOException e) {
                throw bad(position, "the header of a page is damaged (" + BadSource.words(e) + ")");
            }
            requireRoom(header, position, left - in.position());
            ByteBuffer packed = bytes.slice(position + in.position(), (int) header.packedBytes);
            requireLength(header, position, packed);
            ByteBuffer page = bytes.slice(position, in.position() + packed.limit());
            if (header.hasRows()) {
                values += header.values;
                withRows.add(new DataPage(
                        page, packed.rewind(), header.isPlain(), (int) header.values, (int) header.unpackedBytes));
            } else if (header.type == DICTIONARY_PAGE && dictionary == null) {
                dictionary = page;
            }
            if (values > most) {
                throw bad(position, "its pages have more values than the " + most + " of its column");
            }
            lengths.put(start + position, in.position() + header.packedBytes);
            position += in.position() + packed.limit();
        }
    }

    private BadPage bad(long position, String reason) {
        return new BadPage(start + position, reason);
    }

    private void requireRoom(Header header, int position, int left) throws BadPage {
        if (header.packedBytes < 0 || header.packedBytes > left) {
            throw bad(
                    position,
                    "a page extends beyond the end of its column: bytes=" + header.packedBytes + " left=" + left);
        }
        long heap = Runtime.getRuntime().maxMemory();
        if (header.unpackedBytes < 0 || header.unpackedBytes > heap / HEAP_PARTS) {
            throw bad(
                    position,
                    "a page claims " + header.unpackedBytes + " bytes when it is unpacked, more than the "
                            + heap / HEAP_PARTS + " that the reader's heap allows");
        } else if (header.values < 0 || header.values > heap / VALUE_BYTES) {
            throw bad(
                    position,
                    "a page claims " + header.values + " values, more than the " + heap / VALUE_BYTES
                            + " that the reader's heap allows");
        } else if (header.type == DICTIONARY_PAGE && header.values > header.unpackedBytes) {
            throw bad(
                    position, "a dictionary claims " + header.values + " values in " + header.unpackedBytes + " bytes");
        }
    }

    /** Compares the length of a page with the limits of its codec, and with the length in the packed data of Snappy. */
    private void requireLength(Header header, int position, ByteBuffer packed) throws BadPage {
        long levels = header.type == DATA_PAGE_V2 ? header.levelBytes : 0;
        long unpacked = header.unpackedBytes - levels;
        if (levels > packed.limit() || unpacked < 0) {
            throw bad(position, "the levels of a page are longer than it is: bytes=" + levels);
        }
        packed.position((int) levels);
        if ((header.type == DATA_PAGE_V2 && !header.isPacked) || !packed.hasRemaining()) {
            return;
        }
        CompressionCodec codec = column.metaData().codec();
        Integer times = MOST_TIMES.get(codec);
        if (times != null && unpacked > (long) times * packed.remaining()) {
            throw bad(position, "a page of " + packed.remaining() + " bytes cannot become " + unpacked + " bytes");
        } else if (codec == CompressionCodec.SNAPPY && snappyLength(packed) != unpacked) {
            throw bad(
                    position,
                    "a page claims " + unpacked + " bytes when it is unpacked, and its packed data has another length");
        }
    }

    private static long snappyLength(ByteBuffer packed) {
        long length = 0;
        for (int shift = 0; shift < 35 && packed.hasRemaining(); shift += 7) {
            int next = packed.get();
            length |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return length;
            }
        }
        return -1;
    }

    /** Compares an index of pages, if there is one, with the pages: the library follows it. */
    private void requireIndex() throws IOException {
        Long offset = column.offsetIndexOffset();
        Integer length = column.offsetIndexLength();
        if (offset == null || length == null || length <= 0) {
            return;
        }
        long[] place = new long[1];
        new CompactFields(file.readRange(offset, length)).struct((outer, id, value) -> {
            if (outer == 1 && id == 1) {
                place[0] = value;
            } else if (outer == 1 && id == 2 && !Long.valueOf(value).equals(lengths.get(place[0]))) {
                throw new BadPage(
                        offset, "its index of pages is not that of its pages: page=" + place[0] + " bytes=" + value);
            }
        });
    }
}
