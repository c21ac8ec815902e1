package dev.larder.internal.column;

import static dev.larder.internal.layout.KeyTableDescriptor.RECORD_TEXT_LENGTH_OFFSET;
import static dev.larder.internal.layout.KeyTableDescriptor.RECORD_TEXT_OFFSET;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.KeyTableDescriptor;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/** Builds an index that maps strings to rows. */
public final class TextIndexBuilder extends ColumnBuilder {
    private final Utf8 utf8 = new Utf8();
    private final NativeBytes records;
    private final NativeBytes positions;
    private final KeyTableBuilder slots;

    /** The numbers of two equal keys, after they were found. */
    private long @Nullable [] repeated;

    /** Starts an index in anonymous memory. */
    public TextIndexBuilder() {
        this(ColumnMemory.anonymous());
    }

    /** Starts an index in memory that the caller closes later. */
    public TextIndexBuilder(ColumnMemory memory) {
        this.records = new NativeBytes(memory);
        this.positions = new NativeBytes(memory);
        this.slots = new KeyTableBuilder(memory);
    }

    /** Adds a key and its row, which must not be negative. */
    public void add(CharSequence key, long row) {
        addUtf8(utf8.encode(key), row);
    }

    /** Adds the bytes that remain in a buffer as a key, with its row. They must be UTF-8 and are not checked. */
    public void addUtf8(ByteBuffer text, long row) {
        KeyTableBuilder.requireRow(row);
        long position = records.byteSize();
        positions.appendLong(position);
        records.appendLong(row);
        records.appendInt(text.remaining());
        long end = position + KeyTableDescriptor.recordLength(text.remaining());
        records.append(text);
        records.growTo(end);
    }

    @Override
    public long size() {
        return positions.byteSize() / Long.BYTES;
    }

    @Override
    public List<ColumnArray> arrays(String column) {
        if (slots.isEmpty()) {
            fill(column);
        }
        return List.of(
                slots.array(column),
                ColumnArray.of(column, ColumnPart.INDEX_RECORDS, "|u1", records, records.byteSize()),
                ColumnArray.of(column, ColumnPart.INDEX_POSITIONS, "<i8", positions, size()));
    }

    private void fill(String column) {
        slots.allocate(size());
        CRC32 crc = new CRC32();
        ByteBuffer text = ByteBuffer.allocate(1 << 10);
        for (long k = 0; k < size(); k++) {
            long position = positions.longAt(k * Long.BYTES);
            text = read(position, text);
            crc.reset();
            crc.update(text);
            ByteBuffer key = text.rewind();
            long place = position >>> KeyTableDescriptor.RECORD_ALIGNMENT_SHIFT;
            long[] first = new long[1];
            if (!slots.insert(crc.getValue(), place, other -> {
                first[0] = other << KeyTableDescriptor.RECORD_ALIGNMENT_SHIFT;
                return isText(other, key);
            })) {
                slots.close();
                repeated = new long[] {numberAt(first[0]), k};
                throw duplicate(column, k, key);
            }
        }
    }

    /** Returns the number of the key whose record is at a position. */
    private long numberAt(long position) {
        long from = 0;
        long to = size() - 1;
        while (from < to) {
            long middle = (from + to) >>> 1;
            if (positions.longAt(middle * Long.BYTES) < position) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    /** Returns the text of a key for messages. */
    public String keyAt(long number) {
        long position = positions.longAt(number * Long.BYTES);
        int length = records.intAt(position + RECORD_TEXT_LENGTH_OFFSET);
        return Utf8.shown(
                StandardCharsets.UTF_8.decode(ByteBuffer.wrap(records.copy(position + RECORD_TEXT_OFFSET, length))));
    }

    /** Returns the numbers of two equal keys if {@link #arrays} failed because of them; otherwise empty. */
    public long[] repeated() {
        long[] numbers = repeated;
        return numbers == null ? new long[0] : numbers.clone();
    }

    private ByteBuffer read(long position, ByteBuffer buffer) {
        int length = records.intAt(position + RECORD_TEXT_LENGTH_OFFSET);
        ByteBuffer text = length <= buffer.capacity() ? buffer : ByteBuffer.allocate(length);
        records.read(position + RECORD_TEXT_OFFSET, text.clear().limit(length));
        return text.flip();
    }

    private boolean isText(long place, ByteBuffer key) {
        long position = place << KeyTableDescriptor.RECORD_ALIGNMENT_SHIFT;
        int length = records.intAt(position + RECORD_TEXT_LENGTH_OFFSET);
        return length == key.remaining()
                && key.equals(ByteBuffer.wrap(records.copy(position + RECORD_TEXT_OFFSET, length)));
    }

    private static LarderException duplicate(String column, long number, ByteBuffer key) {
        return Failure.of(ErrorCode.BAD_INPUT, "an index has a key twice")
                .with("column", column)
                .with("key", Utf8.shown(StandardCharsets.UTF_8.decode(key)))
                .with("secondPlace", number)
                .remedy("make the keys distinct");
    }

    @Override
    public void close() {
        records.close();
        positions.close();
        slots.close();
    }
}
