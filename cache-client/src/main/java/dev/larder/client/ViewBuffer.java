package dev.larder.client;

import dev.larder.internal.posix.RawMemory;
import dev.larder.internal.view.Targets;
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
 * A read-only window on part of an array. To read many rows, point one window at them in turn: see
 * {@link BytesColumn#row(long, ViewBuffer)}. A new window is empty. Not thread-safe.
 *
 * <p>Every access checks the window's bounds, and after the read that the view is open, so that no mistake reads memory outside
 * the array. For the same reason {@link #addressOffset} refuses, and with it {@code new UnsafeBuffer(window)} and
 * {@code target.putBytes(i, window, …)}; use {@link #getBytes} instead.
 */
public final class ViewBuffer implements DirectBuffer {
    private static final String READ_ONLY = "a window on a view is read-only and bound to it";

    private @Nullable ArrayView view;
    private long address;
    private int capacity;

    /** Creates an empty window. */
    public ViewBuffer() {}

    /** Points the window at a part of an array that the caller has checked. Allocates nothing. */
    void point(ArrayView newView, long newAddress, int newCapacity) {
        view = newView;
        address = newAddress;
        capacity = newCapacity;
    }

    /** Returns the view to read. Its memory stays mapped while the caller holds it. */
    private ArrayView pointed(int index, int length) {
        boundsCheck(index, length);
        ArrayView pointed = view;
        if (pointed == null) {
            throw new IndexOutOfBoundsException("the window was not pointed at a row: index=" + index);
        }
        return pointed;
    }

    /**
     * Returns the address of a checked access. Compares it with the view as well, because another thread may have pointed the
     * window at another row since the bounds check.
     */
    private long at(ArrayView pointed, int index, int length) {
        long at = address + index;
        long begin = at - pointed.base();
        if (begin < 0 || begin > pointed.byteSize() - length) {
            throw new IndexOutOfBoundsException(
                    "the window was pointed at another row while it was read: index=" + index);
        }
        return at;
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
        ArrayView pointed = pointed(index, Long.BYTES);
        long value = RawMemory.getLong(at(pointed, index, Long.BYTES));
        pointed.requireOpen();
        return value;
    }

    @Override
    public long getLong(int index, ByteOrder order) {
        long value = getLong(index);
        return order == ByteOrder.nativeOrder() ? value : Long.reverseBytes(value);
    }

    @Override
    public int getInt(int index) {
        ArrayView pointed = pointed(index, Integer.BYTES);
        int value = RawMemory.getInt(at(pointed, index, Integer.BYTES));
        pointed.requireOpen();
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
        ArrayView pointed = pointed(index, Short.BYTES);
        short value = RawMemory.getShort(at(pointed, index, Short.BYTES));
        pointed.requireOpen();
        return value;
    }

    @Override
    public short getShort(int index, ByteOrder order) {
        short value = getShort(index);
        return order == ByteOrder.nativeOrder() ? value : Short.reverseBytes(value);
    }

    @Override
    public char getChar(int index) {
        ArrayView pointed = pointed(index, Character.BYTES);
        char value = (char) RawMemory.getShort(at(pointed, index, Character.BYTES));
        pointed.requireOpen();
        return value;
    }

    @Override
    public char getChar(int index, ByteOrder order) {
        char value = getChar(index);
        return order == ByteOrder.nativeOrder() ? value : Character.reverseBytes(value);
    }

    @Override
    public byte getByte(int index) {
        ArrayView pointed = pointed(index, Byte.BYTES);
        byte value = RawMemory.getByte(at(pointed, index, Byte.BYTES));
        pointed.requireOpen();
        return value;
    }

    @Override
    public void getBytes(int index, byte[] target) {
        getBytes(index, target, 0, target.length);
    }

    @Override
    public void getBytes(int index, byte[] target, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, target.length);
        copy(index, new UnsafeBuffer(target), offset, length);
    }

    @Override
    public void getBytes(int index, MutableDirectBuffer target, int targetIndex, int length) {
        Targets.requireWritable(target, targetIndex, length);
        copy(index, target, targetIndex, length);
    }

    @Override
    public void getBytes(int index, ByteBuffer target, int length) {
        getBytes(index, target, target.position(), length);
        target.position(target.position() + length);
    }

    @Override
    public void getBytes(int index, ByteBuffer target, int targetOffset, int length) {
        Targets.requireWritable(target, targetOffset, length);
        copy(index, new UnsafeBuffer(target), targetOffset, length);
    }

    private void copy(int index, MutableDirectBuffer target, int offset, int length) {
        if (length == 0) {
            boundsCheck(index, length);
            return;
        }
        ArrayView pointed = pointed(index, length);
        Targets.copy(at(pointed, index, length), target, offset, length);
        pointed.requireOpen();
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

    /** Always throws: an address would outlive the checks. See {@link ArrayView#address} for JNI and devices. */
    @Override
    public long addressOffset() {
        throw new UnsupportedOperationException(
                "a window does not reveal its address; copy with window.getBytes(…), or see ArrayView.address()");
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

    /** Compares the contents byte by byte, unsigned, then the lengths. */
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
        return "ViewBuffer{view=" + (view == null ? "none" : view.name()) + ", capacity=" + capacity + "}";
    }
}
