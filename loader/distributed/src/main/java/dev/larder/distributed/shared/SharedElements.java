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

    // The number of accessible elements of each type: all for that of the dtype, none for others and after closing.
    private long bytes;
    private long shorts;
    private long ints;
    private long longs;
    private long floats;
    private long doubles;

    SharedElements(SharedMemory memory, SharedArraySpec spec) {
        this.memory = memory;
        this.name = spec.name();
        this.dtype = spec.dtype();
        this.count = spec.elementCount();
        this.base = memory.address(ArrayDescriptor.ELEMENTS_OFFSET, spec.byteSize());
        offer(PrimitiveType.of(dtype));
    }

    /** Allows access to elements as this type only; null for none. */
    final void offer(@Nullable PrimitiveType type) {
        bytes = type == PrimitiveType.BYTE ? count : 0;
        shorts = type == PrimitiveType.SHORT ? count : 0;
        ints = type == PrimitiveType.INT ? count : 0;
        longs = type == PrimitiveType.LONG ? count : 0;
        floats = type == PrimitiveType.FLOAT ? count : 0;
        doubles = type == PrimitiveType.DOUBLE ? count : 0;
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
        byte value = RawMemory.getByte(base + at(i, bytes));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with plain semantics. */
    public final void setByte(long i, byte value) {
        RawMemory.putByte(null, base + at(i, bytes), value);
        Reference.reachabilityFence(this);
    }

    /** Reads an element with plain semantics; of half precision, its bits. */
    public final short getShort(long i) {
        short value = RawMemory.getShort(base + at(i, shorts) * Short.BYTES);
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with plain semantics. */
    public final void setShort(long i, short value) {
        RawMemory.putShort(null, base + at(i, shorts) * Short.BYTES, value);
        Reference.reachabilityFence(this);
    }

    /** Reads an element with plain semantics. */
    public final int getInt(long i) {
        int value = RawMemory.getInt(base + at(i, ints) * Integer.BYTES);
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with plain semantics. */
    public final void setInt(long i, int value) {
        RawMemory.putInt(base + at(i, ints) * Integer.BYTES, value);
        Reference.reachabilityFence(this);
    }

    /** Reads an element with plain semantics. */
    public final long getLong(long i) {
        long value = RawMemory.getLong(base + at(i, longs) * Long.BYTES);
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with plain semantics. */
    public final void setLong(long i, long value) {
        RawMemory.putLong(null, base + at(i, longs) * Long.BYTES, value);
        Reference.reachabilityFence(this);
    }

    /** Reads an element with plain semantics. */
    public final float getFloat(long i) {
        float value = RawMemory.getFloat(base + at(i, floats) * Float.BYTES);
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with plain semantics. */
    public final void setFloat(long i, float value) {
        RawMemory.putFloat(base + at(i, floats) * Float.BYTES, value);
        Reference.reachabilityFence(this);
    }

    /** Reads an element with plain semantics. */
    public final double getDouble(long i) {
        double value = RawMemory.getDouble(base + at(i, doubles) * Double.BYTES);
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with plain semantics. */
    public final void setDouble(long i, double value) {
        RawMemory.putDouble(base + at(i, doubles) * Double.BYTES, value);
        Reference.reachabilityFence(this);
    }

    /** Reads an element with volatile semantics. */
    public final int getIntVolatile(long i) {
        int value = RawMemory.getIntVolatile(base + at(i, ints) * Integer.BYTES);
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with volatile semantics. */
    public final void setIntVolatile(long i, int value) {
        RawMemory.putIntVolatile(base + at(i, ints) * Integer.BYTES, value);
        Reference.reachabilityFence(this);
    }

    /** Writes an element atomically if it has the expected value; false if it has not. */
    public final boolean compareAndSetInt(long i, int expected, int value) {
        boolean isSet = RawMemory.compareAndSetInt(base + at(i, ints) * Integer.BYTES, expected, value);
        Reference.reachabilityFence(this);
        return isSet;
    }

    /** Adds to an element atomically, and returns the value before. */
    public final int addInt(long i, int delta) {
        int before = RawMemory.getAndAddInt(base + at(i, ints) * Integer.BYTES, delta);
        Reference.reachabilityFence(this);
        return before;
    }

    /** Reads an element with volatile semantics. */
    public final long getLongVolatile(long i) {
        long value = RawMemory.getLongVolatile(base + at(i, longs) * Long.BYTES);
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with volatile semantics. */
    public final void setLongVolatile(long i, long value) {
        RawMemory.putLongVolatile(base + at(i, longs) * Long.BYTES, value);
        Reference.reachabilityFence(this);
    }

    /** Writes an element atomically if it has the expected value; false if it has not. */
    public final boolean compareAndSetLong(long i, long expected, long value) {
        boolean isSet = RawMemory.compareAndSetLong(base + at(i, longs) * Long.BYTES, expected, value);
        Reference.reachabilityFence(this);
        return isSet;
    }

    /** Adds to an element atomically, and returns the value before. */
    public final long addLong(long i, long delta) {
        long before = RawMemory.getAndAddLong(base + at(i, longs) * Long.BYTES, delta);
        Reference.reachabilityFence(this);
        return before;
    }

    /** Reads an element with volatile semantics. */
    public final float getFloatVolatile(long i) {
        float value = Float.intBitsToFloat(RawMemory.getIntVolatile(base + at(i, floats) * Float.BYTES));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with volatile semantics. */
    public final void setFloatVolatile(long i, float value) {
        RawMemory.putIntVolatile(base + at(i, floats) * Float.BYTES, Float.floatToRawIntBits(value));
        Reference.reachabilityFence(this);
    }

    /** Writes an element atomically if it has the expected bits; false if it has not. */
    public final boolean compareAndSetFloat(long i, float expected, float value) {
        boolean isSet = RawMemory.compareAndSetInt(
                base + at(i, floats) * Float.BYTES, Float.floatToRawIntBits(expected), Float.floatToRawIntBits(value));
        Reference.reachabilityFence(this);
        return isSet;
    }

    /** Adds to an element atomically, and returns the value before. */
    public final float addFloat(long i, float delta) {
        long address = base + at(i, floats) * Float.BYTES;
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
        double value = Double.longBitsToDouble(RawMemory.getLongVolatile(base + at(i, doubles) * Double.BYTES));
        Reference.reachabilityFence(this);
        return value;
    }

    /** Writes an element with volatile semantics. */
    public final void setDoubleVolatile(long i, double value) {
        RawMemory.putLongVolatile(base + at(i, doubles) * Double.BYTES, Double.doubleToRawLongBits(value));
        Reference.reachabilityFence(this);
    }

    /** Writes an element atomically if it has the expected bits; false if it has not. */
    public final boolean compareAndSetDouble(long i, double expected, double value) {
        boolean isSet = RawMemory.compareAndSetLong(
                base + at(i, doubles) * Double.BYTES,
                Double.doubleToRawLongBits(expected),
                Double.doubleToRawLongBits(value));
        Reference.reachabilityFence(this);
        return isSet;
    }

    /** Adds to an element atomically, and returns the value before. */
    public final double addDouble(long i, double delta) {
        long address = base + at(i, doubles) * Double.BYTES;
        while (true) {
            long before = RawMemory.getLongVolatile(address);
            double value = Double.longBitsToDouble(before);
            if (RawMemory.compareAndSetLong(address, before, Double.doubleToRawLongBits(value + delta))) {
                Reference.reachabilityFence(this);
                return value;
            }
        }
    }

    private long at(long i, long limit) {
        if (i < 0 || i >= limit) {
            throw refused(i);
        }
        return i;
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
