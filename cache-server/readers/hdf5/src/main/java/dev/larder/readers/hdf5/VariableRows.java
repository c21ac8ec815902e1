package dev.larder.readers.hdf5;

import dev.larder.reader.BadSource;
import dev.larder.reader.ByteSequence;
import dev.larder.reader.Offer;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.chunks.RowBlocks;
import io.jhdf.GlobalHeap;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.exceptions.HdfException;
import io.jhdf.object.datatype.VariableLength;
import io.jhdf.storage.HdfBackingStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A dataset of texts or lists of numbers of any length. Its rows are references to objects in heaps, copied as they are. It is read twice, in
 * groups of rows: for its length, then for its bytes.
 */
final class VariableRows {
    private static final int ROWS_AT_ONCE = 16_384;
    private static final int MOST_HEAPS = 64;

    private final HdfBackingStorage storage;
    private final DatasetBase dataset;
    private final VariableLength type;
    private final int file;
    private final String name;
    private final Map<Long, GlobalHeap> heaps = new LinkedHashMap<>(MOST_HEAPS, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, GlobalHeap> eldest) {
            return size() > MOST_HEAPS;
        }
    };

    VariableRows(HdfBackingStorage storage, DatasetBase dataset, int file, String name) {
        this.storage = storage;
        this.dataset = dataset;
        this.type = (VariableLength) dataset.getDataType();
        this.file = file;
        this.name = name;
    }

    private interface Row {
        /** Takes the bytes of this many equal rows. */
        void take(ByteBuffer bytes, long times) throws IOException;
    }

    private long rows() throws BadSource {
        long[] dimensions = dataset.getDimensionsAsLong();
        if (dimensions.length > 1) {
            throw new BadSource(
                    file,
                    BadSource.NOWHERE,
                    name,
                    "it has " + dimensions.length + " dimensions, and a column of texts or lists has one",
                    "");
        }
        RowBlocks.requirePossible(dimensions, Long.BYTES, file, name); // an offset for each row
        return dimensions.length == 0 ? 1 : dimensions[0];
    }

    private int itemBytes() {
        return type.isVariableLengthString() ? 1 : type.getParent().getSize();
    }

    /**
     * Visits the bytes of every row. Rows that were never written are visited together: there may be more of them than a program can count
     * to.
     */
    private void forEach(Row row) throws IOException {
        DatasetRows stored = DatasetRows.of(storage, dataset, file, name);
        int referenceBytes = type.getSize();
        if (referenceBytes != 2 * Integer.BYTES + storage.getSizeOfOffsets()) {
            throw new HdfException("its references have " + referenceBytes + " bytes");
        }
        long rows = rows();
        long first = 0;
        while (first < rows) {
            long written = stored.nextWritten(first, rows);
            if (written > first) {
                ByteBuffer unwritten = references(stored, first, 1, referenceBytes);
                row.take(row(unwritten), written - first);
                first = written;
                continue;
            }
            int count = (int) Math.min(ROWS_AT_ONCE, rows - first);
            ByteBuffer references = references(stored, first, count, referenceBytes);
            for (int i = 0; i < count; i++) {
                row.take(row(references), 1);
            }
            first += count;
        }
    }

    private static ByteBuffer references(DatasetRows stored, long first, int count, int referenceBytes)
            throws IOException {
        ByteBuffer references = ByteBuffer.allocate(count * referenceBytes).order(ByteOrder.LITTLE_ENDIAN);
        stored.read(first, count, Math.multiplyExact(first, referenceBytes), references);
        return references.clear();
    }

    private ByteBuffer row(ByteBuffer references) {
        long items = references.getInt() & 0xffffffffL;
        long address = RawMessages.number(references, storage.getSizeOfOffsets());
        int index = references.getInt();
        if (items == 0 || index == 0) {
            return ByteBuffer.allocate(0);
        }
        ByteBuffer object = heaps.computeIfAbsent(address, place -> new GlobalHeap(storage, place))
                .getObjectData(index);
        long bytes = items * itemBytes();
        if (bytes > object.remaining()) {
            throw new HdfException("a row has " + bytes + " bytes, and its heap " + object.remaining());
        }
        object.limit(object.position() + (int) bytes);
        return type.isVariableLengthString() ? untilZero(object) : object;
    }

    /** Cuts a text at its first zero, where HDF5 ends it. */
    private static ByteBuffer untilZero(ByteBuffer text) {
        int end = text.position();
        while (end < text.limit() && text.get(end) != 0) {
            end++;
        }
        return text.limit(end);
    }

    /** Returns the arrays of the column. */
    Iterable<Offer> offers(String column, ReadProgress progress) throws IOException {
        long rows = rows();
        boolean isText = type.isVariableLengthString();
        String dtype = isText ? "|u1" : NumpyTypes.of(type.getParent());
        if (dtype == null || "Sc(".indexOf(dtype.charAt(1)) >= 0) {
            throw new BadSource(file, BadSource.NOWHERE, name, "its lists are not of numbers", "");
        }
        long[] sum = new long[1];
        forEach((bytes, times) -> {
            sum[0] = Math.addExact(sum[0], Math.multiplyExact(bytes.remaining(), times));
            progress.looked(bytes.remaining() + 1L);
        });
        return isText ? Offer.strings(column, rows, sum[0]) : Offer.ragged(column, dtype, rows, sum[0] / itemBytes());
    }

    /** Writes the arrays, the values first. */
    void write(Output output, int first) throws IOException {
        try {
            ByteSequence values = new ByteSequence(output, first, 0);
            ByteSequence offsets = new ByteSequence(output, first + 1, 0);
            ByteSequence lengths = type.isVariableLengthString() ? null : new ByteSequence(output, first + 2, 0);
            offsets.putLong(0);
            long[] sum = new long[1];
            forEach((bytes, times) -> {
                int length = bytes.remaining();
                byte[] copy = new byte[length];
                bytes.get(copy);
                for (long i = 0; i < times; i++) {
                    values.put(copy, 0, length);
                    sum[0] += length / itemBytes();
                    offsets.putLong(sum[0]);
                    if (lengths != null) {
                        lengths.putLong(length / itemBytes());
                    }
                }
            });
            values.flush();
            offsets.flush();
            if (lengths != null) {
                lengths.flush();
            }
        } catch (RuntimeException | StackOverflowError e) {
            throw Unreadable.of(file, name, e);
        }
    }
}
