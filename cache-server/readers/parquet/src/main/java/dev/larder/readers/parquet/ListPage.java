package dev.larder.readers.parquet;

import dev.hardwood.internal.compression.Decompressor;
import dev.hardwood.internal.reader.Page;
import dev.hardwood.metadata.PhysicalType;
import dev.hardwood.schema.ColumnSchema;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** A page of numbers or of lists of them: its levels, and its values in the order of an array. Valid until the thread reads the next page. */
interface ListPage {
    /** Returns the number of values. */
    int size();

    /** Visits the level of repetition of each value, which is 0 for the first one of a list. */
    void repetitions(LevelRuns.Taker taker);

    /** Visits the level of definition of each value. */
    void definitions(LevelRuns.Taker taker);

    /** Writes the values. */
    void put(ByteBuffer target);

    /** A page that the library has decoded. */
    record Decoded(Page page, ColumnKind kind) implements ListPage {
        @Override
        public int size() {
            return page.size();
        }

        @Override
        public void repetitions(LevelRuns.Taker taker) {
            visit(page.repetitionLevels(), taker);
        }

        @Override
        public void definitions(LevelRuns.Taker taker) {
            visit(page.definitionLevels(), taker);
        }

        private void visit(int @Nullable [] levels, LevelRuns.Taker taker) {
            if (levels == null) { // there is only one
                taker.take(0, page.size(), 0);
                return;
            }
            for (int i = 0; i < page.size(); i++) {
                taker.take(i, 1, levels[i]);
            }
        }

        @Override
        public void put(ByteBuffer target) {
            switch (page) {
                case Page.IntPage its -> NumberValues.put(kind, target, its.values(), 0, its.size());
                case Page.LongPage its -> NumberValues.put(kind, target, its.values(), 0, its.size());
                case Page.FloatPage its -> target.asFloatBuffer().put(its.values(), 0, its.size());
                case Page.DoublePage its -> target.asDoubleBuffer().put(its.values(), 0, its.size());
                default -> throw new IllegalStateException("a page of " + page.getClass());
            }
        }
    }

    /** A page with values in the form of the array: the library would copy them several times, and create two integers for the levels of each. */
    record Plain(ByteBuffer data, int definitions, int values, int itemBytes, int size, ColumnSchema schema)
            implements ListPage {
        /** Returns a page; null if only the library can decode it. */
        static @Nullable Plain of(
                ColumnPages.DataPage page, Decompressor decompressor, ColumnSchema schema, ColumnKind kind)
                throws IOException {
            boolean isWide = schema.type() == PhysicalType.INT64 || schema.type() == PhysicalType.DOUBLE;
            int itemBytes = isWide ? Long.BYTES : Integer.BYTES;
            if (!page.isPlain()
                    || kind.itemBytes() != itemBytes
                    || !kind.change().equals(ColumnKind.Change.SAME)) {
                return null;
            }
            int end = page.unpackedBytes();
            ByteBuffer data =
                    ByteBuffer.wrap(decompressor.decompress(page.packed(), end)).order(ByteOrder.LITTLE_ENDIAN);
            int definitions = schema.maxRepetitionLevel() == 0 ? 0 : sectionEnd(data, 0, end);
            int values = schema.maxDefinitionLevel() == 0 ? definitions : sectionEnd(data, definitions, end);
            return new Plain(data.limit(end), definitions, values, itemBytes, page.values(), schema);
        }

        /** Returns the end of levels that follow their length. */
        private static int sectionEnd(ByteBuffer data, int from, int end) {
            int length = end - from < Integer.BYTES ? -1 : data.getInt(from);
            if (length < 0 || length > end - from - Integer.BYTES) {
                throw new IllegalStateException("the levels of a page are longer than it is: bytes=" + length);
            }
            return from + Integer.BYTES + length;
        }

        @Override
        public void repetitions(LevelRuns.Taker taker) {
            visit(0, definitions, schema.maxRepetitionLevel(), taker);
        }

        @Override
        public void definitions(LevelRuns.Taker taker) {
            visit(definitions, values, schema.maxDefinitionLevel(), taker);
        }

        private void visit(int from, int to, int most, LevelRuns.Taker taker) {
            if (most == 0) {
                taker.take(0, size, 0);
                return;
            }
            int bits = Integer.SIZE - Integer.numberOfLeadingZeros(most);
            LevelRuns.forEach(data, from + Integer.BYTES, to, bits, size, taker);
        }

        @Override
        public void put(ByteBuffer target) {
            int found = (data.limit() - values) / itemBytes; // empty lists and nulls have none
            if (size > found) {
                throw new IllegalStateException("a page of " + size + " values has the bytes of " + found);
            }
            target.put(0, data, values, size * itemBytes);
        }
    }
}
