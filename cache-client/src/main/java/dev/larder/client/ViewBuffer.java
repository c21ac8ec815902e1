package dev.larder.client;

import dev.larder.internal.posix.RawMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A read-only window on a part of an array.
 *
 * <p>Every access is checked against the window's bounds and, after reading, against the view being open, so that no mistake
 * reaches memory that is not the array's. For the same reason it tells nobody its address: {@link #addressOffset} refuses, so
 * {@code new UnsafeBuffer(window)} and {@code target.putBytes(i, window, …)} do too; use {@link #getBytes} instead.
 */
final class ViewBuffer implements DirectBuffer {
    private static final String READ_ONLY = "a window on a view is read-only and bound to it";

    private final ArrayView view;
    private final long address;
    private final int capacity;

    ViewBuffer(ArrayView view, long address, int capacity) {
        this.view = view;
        this.address = address;
        this.capacity = capacity;
    }

    /** Returns the address of a checked access. */
    private long at(int index, int length) {
        boundsCheck(index, length);
        return address + index;
    }

    @Override
    public void boundsCheck(int index, int length) {
        if (index < 0 || length < 0 || index > capacity - length) {
            throw new IndexOutOfBoundsException(
                    "outside of the window: index=" + index + " length=" + length + " capacity=" + capacity);
        }
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public void checkLimit(int limit) {
        boundsCheck(0, limit);
    }

    @Override
    public long getLong(int index) {
        long value = RawMemory.getLong(at(index, Long.BYTES));
        view.requireOpen();
        return value;
    }

    @Override
    public long getLong(int index, ByteOrder order) {
        long value = getLong(index);
        return order == ByteOrder.nativeOrder() ? value : Long.reverseBytes(value);
    }

    @Override
    public int getInt(int index) {
        int value = RawMemory.getInt(at(index, Integer.BYTES));
        view.requireOpen();
        return value;
    }

    @Override
    public int getInt(int index, ByteOrder order) {
        int value = getInt(index);
        return order == ByteOrder.nativeOrder() ? value : Integer.reverseBytes(value);
    }

    @Override
    public double getDouble(int index) {
        return Double.longBitsToDouble(getLong(index));
    }

    @Override
    public double getDouble(int index, ByteOrder order) {
        return Double.longBitsToDouble(getLong(index, order));
    }

    @Override
    public float getFloat(int index) {
        return Float.intBitsToFloat(getInt(index));
    }

    @Override
    public float getFloat(int index, ByteOrder order) {
        return Float.intBitsToFloat(getInt(index, order));
    }

    @Override
    public short getShort(int index) {
        short value = RawMemory.getShort(at(index, Short.BYTES));
        view.requireOpen();
        return value;
    }

    @Override
    public short getShort(int index, ByteOrder order) {
        short value = getShort(index);
        return order == ByteOrder.nativeOrder() ? value : Short.reverseBytes(value);
    }

    @Override
    public char getChar(int index) {
        char value = (char) RawMemory.getShort(at(index, Character.BYTES));
        view.requireOpen();
        return value;
    }

    @Override
    public char getChar(int index, ByteOrder order) {
        char value = getChar(index);
        return order == ByteOrder.nativeOrder() ? value : Character.reverseBytes(value);
    }

    @Override
    public byte getByte(int index) {
        byte value = RawMemory.getByte(at(index, Byte.BYTES));
        view.requireOpen();
        return value;
    }

    @Override
    public void getBytes(int index, byte[] target) {
        getBytes(index, target, 0, target.length);
    }

    @Override
    public void getBytes(int index, byte[] target, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, target.length);
        Targets.copy(at(index, length), new UnsafeBuffer(target), offset, length);
        view.requireOpen();
    }

    @Override
    public void getBytes(int index, MutableDirectBuffer target, int targetIndex, int length) {
        Targets.requireWritable(target, targetIndex, length);
        Targets.copy(at(index, length), target, targetIndex, length);
        view.requireOpen();
    }

    @Override
    public void getBytes(int index, ByteBuffer target, int length) {
        getBytes(index, target, target.position(), length);
        target.position(target.position() + length);
    }

    @Override
    public void getBytes(int index, ByteBuffer target, int targetOffset, int length) {
        Targets.requireWritable(target, targetOffset, length);
        Targets.copy(at(index, length), new UnsafeBuffer(target), targetOffset, length);
        view.requireOpen();
    }

    private byte[] copy(int index, int length) {
        boundsCheck(index, length);
        byte[] bytes = new byte[length];
        getBytes(index, bytes);
        return bytes;
    }

    private UnsafeBuffer heapCopy(int index, int length) {
        return new UnsafeBuffer(copy(index, length));
    }

    @Override
    public int parseNaturalIntAscii(int index, int length) {
        return heapCopy(index, length).parseNaturalIntAscii(0, length);
    }

    @Override
    public long parseNaturalLongAscii(int index, int length) {
        return heapCopy(index, length).parseNaturalLongAscii(0, length);
    }

    @Override
    public int parseIntAscii(int index, int length) {
        return heapCopy(index, length).parseIntAscii(0, length);
    }

    @Override
    public long parseLongAscii(int index, int length) {
        return heapCopy(index, length).parseLongAscii(0, length);
    }

    private String text(int index, int length, Charset charset) {
        return new String(copy(index, length), charset);
    }

    @Override
    public String getStringAscii(int index) {
        return getStringAscii(index, getInt(index));
    }

    @Override
    public String getStringAscii(int index, ByteOrder order) {
        return getStringAscii(index, getInt(index, order));
    }

    @Override
    public String getStringAscii(int index, int length) {
        return getStringWithoutLengthAscii(index + STR_HEADER_LEN, length);
    }

    @Override
    public int getStringAscii(int index, Appendable target) {
        return getStringAscii(index, getInt(index), target);
    }

    @Override
    public int getStringAscii(int index, Appendable target, ByteOrder order) {
        return getStringAscii(index, getInt(index, order), target);
    }

    @Override
    public int getStringAscii(int index, int length, Appendable target) {
        return getStringWithoutLengthAscii(index + STR_HEADER_LEN, length, target);
    }

    @Override
    public String getStringWithoutLengthAscii(int index, int length) {
        return text(index, length, StandardCharsets.US_ASCII);
    }

    @Override
    public int getStringWithoutLengthAscii(int index, int length, Appendable target) {
        return heapCopy(index, length).getStringWithoutLengthAscii(0, length, target);
    }

    @Override
    public String getStringUtf8(int index) {
        return getStringUtf8(index, getInt(index));
    }

    @Override
    public String getStringUtf8(int index, ByteOrder order) {
        return getStringUtf8(index, getInt(index, order));
    }

    @Override
    public String getStringUtf8(int index, int length) {
        return getStringWithoutLengthUtf8(index + STR_HEADER_LEN, length);
    }

    @Override
    public String getStringWithoutLengthUtf8(int index, int length) {
        return text(index, length, StandardCharsets.UTF_8);
    }

    /** Refuses: an address would outlive the checks. See {@link ArrayView#address} for JNI and devices. */
    @Override
    public long addressOffset() {
        throw new UnsupportedOperationException(
                "a window does not give its address away; copy with window.getBytes(…), or see ArrayView.address()");
    }

    @Override
    public byte @Nullable [] byteArray() {
        return null;
    }

    @Override
    public @Nullable ByteBuffer byteBuffer() {
        return null;
    }

    @Override
    public int wrapAdjustment() {
        return 0;
    }

    @Override
    public void wrap(byte[] buffer) {
        throw new UnsupportedOperationException(READ_ONLY);
    }

    @Override
    public void wrap(byte[] buffer, int offset, int length) {
        throw new UnsupportedOperationException(READ_ONLY);
    }

    @Override
    public void wrap(ByteBuffer buffer) {
        throw new UnsupportedOperationException(READ_ONLY);
    }

    @Override
    public void wrap(ByteBuffer buffer, int offset, int length) {
        throw new UnsupportedOperationException(READ_ONLY);
    }

    @Override
    public void wrap(DirectBuffer buffer) {
        throw new UnsupportedOperationException(READ_ONLY);
    }

    @Override
    public void wrap(DirectBuffer buffer, int offset, int length) {
        throw new UnsupportedOperationException(READ_ONLY);
    }

    @Override
    public void wrap(long address, int length) {
        throw new UnsupportedOperationException(READ_ONLY);
    }

    /** Compares contents byte by byte, unsigned, then by length. */
    @Override
    public int compareTo(DirectBuffer that) {
        int shared = Math.min(capacity, that.capacity());
        for (int i = 0; i < shared; i++) {
            int difference = Byte.compareUnsigned(getByte(i), that.getByte(i));
            if (difference != 0) {
                return difference;
            }
        }
        return Integer.compare(capacity, that.capacity());
    }

    @Override
    public boolean equals(@Nullable Object that) {
        return that instanceof ViewBuffer other && compareTo(other) == 0;
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (int i = 0; i < capacity; i++) {
            hash = 31 * hash + getByte(i);
        }
        return hash;
    }

    @Override
    public String toString() {
        return "ViewBuffer{view=" + view.name() + ", capacity=" + capacity + "}";
    }
}
