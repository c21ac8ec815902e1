package dev.larder.internal.column;

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

    /** Adds a row. Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if the text has an unpaired surrogate. */
    public void add(CharSequence text) {
        addUtf8(utf8.encode(text));
    }

    /** Adds the bytes that remain in a buffer as a row. They must be UTF-8 and are not checked. */
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
