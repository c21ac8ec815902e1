package dev.larder.distributed;

import dev.larder.internal.posix.RawMemory;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Elements of one type in a row in memory of the caller: in an array, in a buffer, or at an address. A span copies nothing, keeps its
 * memory reachable, and can be used for any number of calls. Addresses need not be aligned.
 */
public final class Span {
    /** No elements. */
    static final Span NOTHING = of(new float[0]);

    private final ElementType type;
    private final @Nullable Object array;
    private final long start;
    private final long byteSize;
    private final boolean writable;
    private final Object owner;

    private Span(ElementType type, @Nullable Object array, long start, long byteSize, boolean writable, Object owner) {
        if (byteSize < 0 || byteSize % type.byteSize() != 0) {
            throw new IllegalArgumentException(
                    "not a number of elements: byteSize=" + byteSize + " elementByteSize=" + type.byteSize());
        }
        this.type = type;
        this.array = array;
        this.start = start;
        this.byteSize = byteSize;
        this.writable = writable;
        this.owner = Objects.requireNonNull(owner);
    }

    /** Spans a whole buffer. */
    public static Span of(ElementType type, DirectBuffer buffer) {
        return of(type, buffer, 0, buffer.capacity());
    }

    /** Spans a part of a buffer; only a {@link MutableDirectBuffer} over memory that is not read-only can take results. */
    public static Span of(ElementType type, DirectBuffer buffer, int offset, int byteSize) {
        buffer.boundsCheck(offset, byteSize);
        long start = buffer.addressOffset() + offset;
        @Nullable ByteBuffer memory = buffer.byteBuffer();
        boolean writable = buffer instanceof MutableDirectBuffer && (memory == null || !memory.isReadOnly());
        Object owner = memory == null ? buffer : List.of(buffer, memory); // a buffer may wrap other memory later
        return new Span(type, buffer.byteArray(), start, byteSize, writable, owner);
    }

    /** Spans an array of {@link ElementType#FLOAT}. */
    public static Span of(float[] array) {
        long byteSize = (long) array.length * Float.BYTES;
        return new Span(ElementType.FLOAT, array, RawMemory.arrayOffset(float[].class), byteSize, true, array);
    }

    /** Spans an array of {@link ElementType#DOUBLE}. */
    public static Span of(double[] array) {
        long byteSize = (long) array.length * Double.BYTES;
        return new Span(ElementType.DOUBLE, array, RawMemory.arrayOffset(double[].class), byteSize, true, array);
    }

    /** Spans an array of {@link ElementType#INT}. */
    public static Span of(int[] array) {
        long byteSize = (long) array.length * Integer.BYTES;
        return new Span(ElementType.INT, array, RawMemory.arrayOffset(int[].class), byteSize, true, array);
    }

    /** Spans an array of {@link ElementType#LONG}. */
    public static Span of(long[] array) {
        long byteSize = (long) array.length * Long.BYTES;
        return new Span(ElementType.LONG, array, RawMemory.arrayOffset(long[].class), byteSize, true, array);
    }

    /**
     * Spans memory outside the heap of any length, without a check.
     *
     * @param owner keeps the memory valid while it can be reached
     */
    public static Span at(ElementType type, long address, long byteSize, Object owner) {
        return new Span(type, null, address, byteSize, true, owner);
    }

    /** Returns the part that begins at an element. */
    public Span slice(long firstElement, long elements) {
        Objects.checkFromIndexSize(firstElement, elements, elements());
        long offset = firstElement * type.byteSize();
        return new Span(type, array, start + offset, elements * type.byteSize(), writable, owner);
    }

    /** Returns the type of the elements. */
    public ElementType type() {
        return type;
    }

    /** Returns the number of elements. */
    public long elements() {
        return byteSize / type.byteSize();
    }

    /** Returns the bytes of the elements. */
    public long byteSize() {
        return byteSize;
    }

    /** Returns whether the memory is writable. */
    public boolean isWritable() {
        return writable;
    }

    /** Returns the array of {@link #position}; null if that is an address. */
    @Nullable
    Object array() {
        return array;
    }

    /** Returns the position of a byte for {@link RawMemory}. */
    long position(long offset) {
        return start + offset;
    }

    void copyTo(long offset, long address, long length) {
        RawMemory.copy(array, start + offset, null, address, length);
    }

    void copyFrom(long address, long offset, long length) {
        RawMemory.copy(null, address, array, start + offset, length);
    }

    @Override
    public String toString() {
        return "Span{" + type + " elements=" + elements() + "}";
    }
}
