package dev.larder.column;

import dev.larder.internal.layout.ColumnPart;
import java.nio.ByteBuffer;
import java.util.List;

/** Builds a column of strings. */
public final class StringsBuilder extends ColumnBuilder {
    private final Utf8 utf8 = new Utf8();
    private final NativeBytes bytes;
    private final RowOffsets offsets;

    /** Starts a column in anonymous memory. */
    public StringsBuilder() {
        this(ColumnMemory.anonymous());
    }

    /** Starts a column in memory that the caller closes later. */
    public StringsBuilder(ColumnMemory memory) {
        this.bytes = new NativeBytes(memory);
        this.offsets = new RowOffsets(ColumnPart.STRINGS_OFFSETS, memory);
    }

    /** Adds a row; fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} where half of a surrogate pair stands alone. */
    public void add(CharSequence text) {
        addUtf8(utf8.encode(text));
    }

    /** Adds a row: all that remains in the buffer, which must be UTF-8. The bytes are not checked. */
    public void addUtf8(ByteBuffer text) {
        int length = text.remaining();
        bytes.append(text);
        offsets.add(length);
    }

    @Override
    public long size() {
        return offsets.size();
    }

    @Override
    public List<ColumnArray> arrays(String column) {
        return List.of(
                ColumnArray.of(column, ColumnPart.STRINGS_BYTES, "|u1", bytes, bytes.byteSize()),
                offsets.arrays(column).get(0));
    }

    @Override
    public void close() {
        bytes.close();
        offsets.close();
    }
}
