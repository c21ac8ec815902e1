package dev.larder.readers.parquet;

import dev.hardwood.internal.reader.Dictionary;
import dev.hardwood.internal.reader.HardwoodContextImpl;
import dev.hardwood.internal.reader.Page;
import dev.hardwood.internal.reader.PageDecoder;
import dev.hardwood.metadata.ColumnChunk;
import dev.hardwood.schema.ColumnSchema;
import dev.larder.reader.ByteSequence;
import dev.larder.reader.Output;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the lists of numbers of one row group if none is null or empty, and none has nulls: so the values of a page follow each other as in the
 * array. The library builds lists value by value, and takes several times as long.
 */
final class FullLists {
    private final OpenedFile opened;
    private final ColumnSchema schema;
    private final ColumnKind kind;
    private final ColumnChunk chunk;
    private final ColumnPages pages;

    FullLists(OpenedFile opened, ColumnSchema schema, ColumnKind kind, ColumnChunk chunk, ColumnPages pages) {
        this.opened = opened;
        this.schema = schema;
        this.kind = kind;
        this.chunk = chunk;
        this.pages = pages;
    }

    /** Returns whether each row of a column is a list of numbers. */
    static boolean areOf(ColumnSchema schema, ColumnKind kind) {
        boolean isOfNumbers = switch (schema.type()) {
            case INT32, INT64, FLOAT, DOUBLE -> true;
            default -> false;
        };
        return isOfNumbers && schema.maxRepetitionLevel() == 1 && kind.lists().size() == 1;
    }

    private interface Taker {
        void take(Page page) throws IOException;
    }

    private void forEach(Taker taker) throws IOException {
        HardwoodContextImpl context = (HardwoodContextImpl) opened.context();
        PageDecoder decoder = new PageDecoder(chunk.metaData(), schema, context.decompressorFactory());
        Dictionary dictionary = opened.dictionary(chunk, schema, pages);
        for (ByteBuffer page : pages.withRows()) {
            taker.take(decoder.decodePage(page.duplicate(), dictionary));
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

    private static int beginnings(Page page) {
        int[] levels = page.repetitionLevels();
        int rows = 0;
        for (int i = 0; i < page.size(); i++) {
            rows += levels[i] == 0 ? 1 : 0;
        }
        return rows;
    }

    private boolean isFull(Page page) {
        int full = schema.maxDefinitionLevel();
        int[] levels = page.definitionLevels();
        for (int i = 0; i < page.size(); i++) {
            if (levels[i] != full) {
                return false;
            }
        }
        return true;
    }

    /**
     * Writes all values, and where their rows end.
     *
     * @param first the number of the offer of the values
     * @param row how many rows of the array come before
     * @param element how many elements come before
     */
    void write(Output output, int first, long row, long element, long rows) throws IOException {
        boolean isRagged = kind.form() == ColumnKind.Form.LISTS;
        Ends ends = new Ends(
                isRagged ? new ByteSequence(output, first + 1, (row + 1) * Long.BYTES) : null,
                isRagged ? new ByteSequence(output, first + 2, row * Long.BYTES) : null,
                element);
        long[] written = {element};
        forEach(page -> {
            if (!isFull(page)) {
                throw new IllegalStateException("its metadata says that no list is null or empty, and one is");
            }
            int bytes = Math.multiplyExact(page.size(), kind.itemBytes());
            put(output.at(first, written[0] * kind.itemBytes(), bytes), page);
            ends.take(page.repetitionLevels(), page.size(), written[0]);
            written[0] += page.size();
        });
        ends.finish(written[0], rows);
        if (written[0] - element != chunk.metaData().numValues()) {
            throw new IllegalStateException("values=" + (written[0] - element));
        }
    }

    private void put(ByteBuffer target, Page page) {
        switch (page) {
            case Page.IntPage its -> NumberValues.put(kind, target, its.values(), 0, its.size());
            case Page.LongPage its -> NumberValues.put(kind, target, its.values(), 0, its.size());
            case Page.FloatPage its -> target.asFloatBuffer().put(its.values(), 0, its.size());
            case Page.DoublePage its -> target.asDoubleBuffer().put(its.values(), 0, its.size());
            default -> throw new IllegalStateException("a page of " + page.getClass());
        }
    }

    /** Finds where rows end: before each value that does not go on with a list. */
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

        void take(int[] levels, int count, long element) {
            for (int i = 0; i < count; i++) {
                if (levels[i] == 0 && element + i > begin) {
                    end(element + i);
                } else if (levels[i] != 0 && element + i == begin) {
                    throw new IllegalStateException("its first value goes on with a row before it");
                }
            }
        }

        private void end(long end) {
            long length = end - start;
            int said = kind.lists().get(0);
            if (said != ColumnKind.ANY_LENGTH && length != said) {
                throw Batch.otherLength(said, (int) length);
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
                throw new IllegalStateException("it has " + rows + " rows where the file says " + said);
            }
            if (offsets != null && lengths != null) {
                offsets.flush();
                lengths.flush();
            }
        }
    }
}
