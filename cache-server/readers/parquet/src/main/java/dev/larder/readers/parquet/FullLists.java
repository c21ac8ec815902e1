package dev.larder.readers.parquet;

import dev.hardwood.internal.compression.DecompressorFactory;
import dev.hardwood.internal.reader.Dictionary;
import dev.hardwood.internal.reader.HardwoodContextImpl;
import dev.hardwood.internal.reader.PageDecoder;
import dev.hardwood.metadata.ColumnChunk;
import dev.hardwood.schema.ColumnSchema;
import dev.larder.reader.ByteSequence;
import dev.larder.reader.Output;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the numbers of one row group, or its lists of numbers, if none is null or empty, and no list has nulls. Then the values of a page are in the
 * order of the array. The library builds lists value by value, and has threads for each column: it takes several times as long for lists, and for few
 * rows.
 */
final class FullLists {
    private final OpenedFile opened;
    private final ColumnSchema schema;
    private final ColumnKind kind;
    private final ColumnChunk chunk;
    private final ColumnPages pages;

    /** True if rows may be null: a page then lacks values, so that it has not the form of the array. */
    private final boolean hasNulls;

    FullLists(
            OpenedFile opened,
            ColumnSchema schema,
            ColumnKind kind,
            ColumnChunk chunk,
            ColumnPages pages,
            boolean hasNulls) {
        this.hasNulls = hasNulls;
        this.opened = opened;
        this.schema = schema;
        this.kind = kind;
        this.chunk = chunk;
        this.pages = pages;
    }

    /** Returns whether each row of a column is a list of numbers. */
    static boolean areOf(ColumnSchema schema, ColumnKind kind) {
        return isOfNumbers(schema)
                && schema.maxRepetitionLevel() == 1
                && kind.lists().size() == 1;
    }

    /** Returns whether each row of a column is a number. */
    static boolean areNone(ColumnSchema schema, ColumnKind kind) {
        return isOfNumbers(schema)
                && schema.maxRepetitionLevel() == 0
                && kind.form() == ColumnKind.Form.NUMBERS
                && kind.rowBytes() == kind.itemBytes();
    }

    private static boolean isOfNumbers(ColumnSchema schema) {
        return switch (schema.type()) {
            case INT32, INT64, FLOAT, DOUBLE -> true;
            default -> false;
        };
    }

    private interface Taker {
        void take(ListPage page) throws IOException;
    }

    private void forEach(Taker taker) throws IOException {
        DecompressorFactory codecs = ((HardwoodContextImpl) opened.context()).decompressorFactory();
        PageDecoder decoder = new PageDecoder(chunk.metaData(), schema, codecs);
        Dictionary dictionary = opened.dictionary(chunk, schema, pages);
        for (ColumnPages.DataPage page : pages.withRows()) {
            ListPage plain = hasNulls
                    ? null
                    : ListPage.Plain.of(
                            page, codecs.getDecompressor(chunk.metaData().codec()), schema, kind);
            taker.take(
                    plain != null
                            ? plain
                            : new ListPage.Decoded(
                                    decoder.decodePage(page.whole().duplicate(), dictionary), kind));
        }
    }

    /** Returns whether none is null or empty, and the metadata has the right number of values and of rows. */
    boolean isFull(long saidRows) throws IOException {
        long[] values = new long[1];
        long[] rows = new long[1];
        boolean[] isFull = {true};
        forEach(page -> {
            values[0] += page.size();
            rows[0] += beginnings(page);
            isFull[0] &= isFull(page);
        });
        return isFull[0] && values[0] == chunk.metaData().numValues() && rows[0] == saidRows;
    }

    private static int beginnings(ListPage page) {
        int[] rows = new int[1];
        page.repetitions((first, count, level) -> rows[0] += level == 0 ? count : 0);
        return rows[0];
    }

    private boolean isFull(ListPage page) {
        int full = schema.maxDefinitionLevel();
        boolean[] isFull = {true};
        page.definitions((first, count, level) -> isFull[0] &= level == full);
        return isFull[0];
    }

    /**
     * Writes all values, and where their rows end.
     *
     * @param first the number of the offer of the values
     * @param mask that of the mask of null rows, for numbers that are no lists; negative if there is none
     * @param row how many rows of the array come before
     * @param element how many elements come before
     */
    void write(Output output, int first, int mask, long row, long element, long rows) throws IOException {
        boolean isRagged = kind.form() == ColumnKind.Form.LISTS;
        Ends ends = new Ends(
                isRagged ? new ByteSequence(output, first + 1, (row + 1) * Long.BYTES) : null,
                isRagged ? new ByteSequence(output, first + 2, row * Long.BYTES) : null,
                element);
        long[] written = {element};
        boolean areLists = schema.maxRepetitionLevel() > 0;
        forEach(page -> {
            if (!hasNulls && !isFull(page)) {
                throw new IllegalStateException(
                        areLists
                                ? "its metadata has no null or empty list, and its values have one"
                                : "its metadata has no null rows, and its values have some");
            }
            int bytes = Math.multiplyExact(page.size(), kind.itemBytes());
            ByteBuffer target = output.at(first, written[0] * kind.itemBytes(), bytes);
            page.put(target);
            if (areLists) {
                ends.take(page, written[0]);
            } else if (mask >= 0) {
                putNulls(page, target, output.at(mask, written[0], page.size()));
            }
            written[0] += page.size();
        });
        if (areLists) {
            ends.finish(written[0], rows);
        } else if (written[0] - element != rows) {
            throw new IllegalStateException("it has " + (written[0] - element) + " rows, and its metadata " + rows);
        }
        if (written[0] - element != chunk.metaData().numValues()) {
            throw new IllegalStateException("values=" + (written[0] - element));
        }
    }

    /** Writes which rows are null; the numbers of these become zeros. */
    private void putNulls(ListPage page, ByteBuffer target, ByteBuffer mask) {
        byte[] zeros = new byte[kind.itemBytes()];
        page.definitions((first, count, level) -> {
            boolean areNull = level < schema.maxDefinitionLevel();
            for (int i = first; i < first + count; i++) {
                mask.put(i, (byte) (areNull ? 1 : 0));
                if (areNull) {
                    target.put(i * zeros.length, zeros);
                }
            }
        });
    }

    /** Finds the ends of rows: each value that does not continue a list begins a new row. */
    private final class Ends {
        private final @Nullable ByteSequence offsets;
        private final @Nullable ByteSequence lengths;
        private final long begin;
        private long start;
        private long rows;

        Ends(@Nullable ByteSequence offsets, @Nullable ByteSequence lengths, long begin) {
            this.offsets = offsets;
            this.lengths = lengths;
            this.begin = begin;
            this.start = begin;
        }

        void take(ListPage page, long element) {
            page.repetitions((first, count, level) -> {
                if (level != 0 && element + first == begin) {
                    throw new IllegalStateException("its first value continues a row that does not exist");
                }
                for (long at = element + first; level == 0 && at < element + first + count; at++) {
                    if (at > begin) {
                        end(at);
                    }
                }
            });
        }

        private void end(long end) {
            long length = end - start;
            int said = kind.lists().get(0);
            if (said != ColumnKind.ANY_LENGTH && length != said) {
                throw ColumnBatch.otherLength(said, (int) length);
            }
            if (offsets != null && lengths != null) {
                offsets.putLong(end);
                lengths.putLong(length);
            }
            start = end;
            rows++;
        }

        void finish(long end, long said) {
            if (end > begin) {
                end(end);
            }
            if (rows != said) {
                throw new IllegalStateException("it has " + rows + " rows, and its metadata " + said);
            }
            if (offsets != null && lengths != null) {
                offsets.flush();
                lengths.flush();
            }
        }
    }
}
