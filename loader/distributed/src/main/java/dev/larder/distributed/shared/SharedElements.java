package dev.larder.distributed.shared;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.internal.posix.RawMemory;
import dev.larder.npy.Dtype;
import java.lang.ref.Reference;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Access to single elements of a shared array, without locks and states. Thread-safe. */
@SuppressWarnings("ReachabilityFenceUsage") // an access that fails before the fence has no effect after it
abstract class SharedElements {
    private final SharedMemory memory;
    private final String name;
    private final Dtype dtype;
    private final long count;
    private final long base;

    /** The type that accesses must have: that of the dtype, or null after closing. */
    private @Nullable PrimitiveType offered;

    SharedElements(SharedMemory memory, SharedArraySpec spec) {
        this.memory = memory;
        this.name = spec.name();
        this.dtype = spec.dtype();
        this.count = spec.elementCount();
        this.base = memory.address(ArrayDescriptor.ELEMENTS_OFFSET, spec.byteSize());
        this.offered = PrimitiveType.of(dtype);
    }

    /** Refuses all further accesses. */
    final void closeElements() {
        offered = null;
    }

    /** Returns the number of elements. */
    public final long elementCount() {
        return count;
    }

    /** Returns the address of elements, checked for bounds and type; valid while this can be reached. */
    final long address(long first, long length, PrimitiveType type) {
        requireOpen();
        if (PrimitiveType.of(dtype) != type) {
            throw otherType();
        }
        return address(first, length);
    }

    /** Returns the address of elements of any type. */
    final long address(long first, long length) {
        requireOpen();
        if (first < 0 || length < 0 || first > count - length) {
            throw new IndexOutOfBoundsException("elements from " + first + " length " + length + " of " + count);
        }
        return base + first * dtype.itemSize();
    }

    final void requireOpen() {
        if (memory.isClosed()) {
            throw new IllegalStateException("shared array is closed: name=" + name);
        }
    }

    /** Reads an element with plain semantics. */
    public final byte getByte(long i) {
        byte value = RawMemory.getByte(at(i, PrimitiveType.BYTE, Byte.BYTES));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with plain semantics. */
    public final void setByte(long i, byte value) {
        RawMemory.putByte(null, at(i, PrimitiveType.BYTE, Byte.BYTES), value);
        Reference.reachabilityFence(this);
    }

    /** Reads an element with plain semantics; of half precision, its bits. */
    public final short getShort(long i) {
        short value = RawMemory.getShort(at(i, PrimitiveType.SHORT, Short.BYTES));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with plain semantics. */
    public final void setShort(long i, short value) {
        RawMemory.putShort(null, at(i, PrimitiveType.SHORT, Short.BYTES), value);
        Reference.reachabilityFence(this);
    }

    /** Reads an element with plain semantics. */
    public final int getInt(long i) {
        int value = RawMemory.getInt(at(i, PrimitiveType.INT, Integer.BYTES));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with plain semantics. */
    public final void setInt(long i, int value) {
        RawMemory.putInt(at(i, PrimitiveType.INT, Integer.BYTES), value);
        Reference.reachabilityFence(this);
    }

    /** Reads an element with plain semantics. */
    public final long getLong(long i) {
        long value = RawMemory.getLong(at(i, PrimitiveType.LONG, Long.BYTES));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with plain semantics. */
    public final void setLong(long i, long value) {
        RawMemory.putLong(null, at(i, PrimitiveType.LONG, Long.BYTES), value);
        Reference.reachabilityFence(this);
    }

    /** Reads an element with plain semantics. */
    public final float getFloat(long i) {
        float value = RawMemory.getFloat(at(i, PrimitiveType.FLOAT, Float.BYTES));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with plain semantics. */
    public final void setFloat(long i, float value) {
        RawMemory.putFloat(at(i, PrimitiveType.FLOAT, Float.BYTES), value);
        Reference.reachabilityFence(this);
    }

    /** Reads an element with plain semantics. */
    public final double getDouble(long i) {
        double value = RawMemory.getDouble(at(i, PrimitiveType.DOUBLE, Double.BYTES));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with plain semantics. */
    public final void setDouble(long i, double value) {
        RawMemory.putDouble(at(i, PrimitiveType.DOUBLE, Double.BYTES), value);
        Reference.reachabilityFence(this);
    }

    /** Reads an element with volatile semantics. */
    public final int getIntVolatile(long i) {
        int value = RawMemory.getIntVolatile(at(i, PrimitiveType.INT, Integer.BYTES));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with volatile semantics. */
    public final void setIntVolatile(long i, int value) {
        RawMemory.putIntVolatile(at(i, PrimitiveType.INT, Integer.BYTES), value);
        Reference.reachabilityFence(this);
    }

    /** Writes an element atomically if it has the expected value; false if it has not. */
    public final boolean compareAndSetInt(long i, int expected, int value) {
        boolean isSet = RawMemory.compareAndSetInt(at(i, PrimitiveType.INT, Integer.BYTES), expected, value);
        Reference.reachabilityFence(this);
        return isSet;
    }

    /** Adds to an element atomically, and returns the value before. */
    public final int addInt(long i, int delta) {
        int before = RawMemory.getAndAddInt(at(i, PrimitiveType.INT, Integer.BYTES), delta);
        Reference.reachabilityFence(this);
        return before;
    }

    /** Reads an element with volatile semantics. */
    public final long getLongVolatile(long i) {
        long value = RawMemory.getLongVolatile(at(i, PrimitiveType.LONG, Long.BYTES));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with volatile semantics. */
    public final void setLongVolatile(long i, long value) {
        RawMemory.putLongVolatile(at(i, PrimitiveType.LONG, Long.BYTES), value);
        Reference.reachabilityFence(this);
    }

    /** Writes an element atomically if it has the expected value; false if it has not. */
    public final boolean compareAndSetLong(long i, long expected, long value) {
        boolean isSet = RawMemory.compareAndSetLong(at(i, PrimitiveType.LONG, Long.BYTES), expected, value);
        Reference.reachabilityFence(this);
        return isSet;
    }

    /** Adds to an element atomically, and returns the value before. */
    public final long addLong(long i, long delta) {
        long before = RawMemory.getAndAddLong(at(i, PrimitiveType.LONG, Long.BYTES), delta);
        Reference.reachabilityFence(this);
        return before;
    }

    /** Reads an element with volatile semantics. */
    public final float getFloatVolatile(long i) {
        float value = Float.intBitsToFloat(RawMemory.getIntVolatile(at(i, PrimitiveType.FLOAT, Float.BYTES)));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with volatile semantics. */
    public final void setFloatVolatile(long i, float value) {
        RawMemory.putIntVolatile(at(i, PrimitiveType.FLOAT, Float.BYTES), Float.floatToRawIntBits(value));
        Reference.reachabilityFence(this);
    }

    /** Writes an element atomically if it has the expected bits; false if it has not. */
    public final boolean compareAndSetFloat(long i, float expected, float value) {
        boolean isSet = RawMemory.compareAndSetInt(
                at(i, PrimitiveType.FLOAT, Float.BYTES),
                Float.floatToRawIntBits(expected),
                Float.floatToRawIntBits(value));
        Reference.reachabilityFence(this);
        return isSet;
    }

    /** Adds to an element atomically, and returns the value before. */
    public final float addFloat(long i, float delta) {
        long address = at(i, PrimitiveType.FLOAT, Float.BYTES);
        while (true) {
            int before = RawMemory.getIntVolatile(address);
            float value = Float.intBitsToFloat(before);
            if (RawMemory.compareAndSetInt(address, before, Float.floatToRawIntBits(value + delta))) {
                Reference.reachabilityFence(this);
                return value;
            }
        }
    }

    /** Reads an element with volatile semantics. */
    public final double getDoubleVolatile(long i) {
        double value = Double.longBitsToDouble(RawMemory.getLongVolatile(at(i, PrimitiveType.DOUBLE, Double.BYTES)));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with volatile semantics. */
    public final void setDoubleVolatile(long i, double value) {
        RawMemory.putLongVolatile(at(i, PrimitiveType.DOUBLE, Double.BYTES), Double.doubleToRawLongBits(value));
        Reference.reachabilityFence(this);
    }

    /** Writes an element atomically if it has the expected bits; false if it has not. */
    public final boolean compareAndSetDouble(long i, double expected, double value) {
        boolean isSet = RawMemory.compareAndSetLong(
                at(i, PrimitiveType.DOUBLE, Double.BYTES),
                Double.doubleToRawLongBits(expected),
                Double.doubleToRawLongBits(value));
        Reference.reachabilityFence(this);
        return isSet;
    }

    /** Adds to an element atomically, and returns the value before. */
    public final double addDouble(long i, double delta) {
        long address = at(i, PrimitiveType.DOUBLE, Double.BYTES);
        while (true) {
            long before = RawMemory.getLongVolatile(address);
            double value = Double.longBitsToDouble(before);
            if (RawMemory.compareAndSetLong(address, before, Double.doubleToRawLongBits(value + delta))) {
                Reference.reachabilityFence(this);
                return value;
            }
        }
    }

    /** Returns the address of an element, which has {@code size} bytes. */
    private long at(long i, PrimitiveType type, int size) {
        if (i < 0 || i >= count || offered != type) {
            throw refused(i);
        }
        return base + i * size;
    }

    private RuntimeException refused(long i) {
        requireOpen();
        return i < 0 || i >= count ? new IndexOutOfBoundsException("element " + i + " of " + count) : otherType();
    }

    private RuntimeException otherType() {
        String type = PrimitiveType.of(dtype).name().toLowerCase(Locale.ROOT);
        return new UnsupportedOperationException(
                "use the Java type of the element type: dtype=" + dtype + " type=" + type);
    }
}
