package dev.larder.distributed.shared;

import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.Regions;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.RawMemory;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * An array that several processes write and read at the same time, unlike datasets, which are read-only. Elements are counted from 0 in C
 * order ({@link #flat}). The methods for an element have the name of its Java type; those of other types fail.
 *
 * <p>There are three independent ways to write:
 *
 * <ul>
 *   <li><b>element by element</b>. Plain accesses race like plain fields of an object: of two concurrent additions, one may be lost, but no
 *       element is torn. Volatile and atomic accesses are ordered like those of {@code java.util.concurrent.atomic}.
 *   <li><b>under {@link #lock}</b>, with one writer or many readers, and a report of a writer that died.
 *   <li><b>as whole states</b>, {@link #publish} and {@link #snapshot}, if the array has a spare: readers always get one whole state, and
 *       never wait for a publisher that is slow, stopped or dead.
 * </ul>
 *
 * <p>The array exists while a process has it open. Thread-safe. Owned by the caller that opened it. An access after closing is an {@link
 * IllegalStateException}; a concurrent one is harmless.
 */
@SuppressWarnings("ReachabilityFenceUsage") // an access that fails before the fence has no effect after it
public final class SharedArray extends SharedElements implements AutoCloseable {
    private static final long FILL_STEP = 1 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Region region;
    private final SharedArraySpec spec;
    private final SharedLock lock;
    private final SharedBarrier barrier;
    private final @Nullable DoubleBuffer doubleBuffer;

    private SharedArray(Region region, SharedArraySpec spec) {
        super(region.memory(), spec);
        this.region = region;
        this.spec = spec;
        this.lock = new SharedLock(region, ArrayDescriptor.LOCK_OFFSET, ArrayDescriptor.LOCK_SEAT);
        this.barrier = new SharedBarrier(region, ArrayDescriptor.BARRIER_OFFSET, ArrayDescriptor.BARRIER_SEAT);
        this.doubleBuffer = spec.hasSpare() ? new DoubleBuffer(region, spec.byteSize()) : null;
    }

    /**
     * Opens an array, and creates it with zeros if there is none; see {@link #openOrCreate(Regions, SharedArraySpec, Duration)}.
     */
    public static SharedArray openOrCreate(Regions regions, String name, Dtype dtype, long... shape) {
        return openOrCreate(regions, SharedArraySpec.of(name, dtype, shape), PATIENCE);
    }

    /**
     * Opens an array, and creates it with zeros if there is none. All concurrent callers get the same array.
     *
     * @throws LarderException REFUSED if another array or region has the name; NO_SPACE; DEADLINE
     */
    public static SharedArray openOrCreate(Regions regions, SharedArraySpec spec, Duration timeout) {
        Region region;
        try {
            region = regions.openOrCreate(spec.region(), memory -> ArrayDescriptor.write(memory, spec), timeout);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.REFUSED) { // for its size or kind; there is a better message for an array
                try (SharedArray found = open(regions, spec.name(), timeout)) {
                    requireSame(found.spec, spec);
                }
            }
            throw e;
        }
        SharedArray array = over(region);
        try {
            requireSame(array.spec, spec);
            return array;
        } catch (RuntimeException | Error e) {
            array.close();
            throw e;
        }
    }

    /** Opens an existing array; waits some seconds for one. */
    public static SharedArray open(Regions regions, String name) {
        return open(regions, name, PATIENCE);
    }

    /** Opens an existing array, or waits for one. */
    public static SharedArray open(Regions regions, String name, Duration timeout) {
        return over(regions.open(name, ArrayDescriptor.KIND, timeout));
    }

    private static SharedArray over(Region region) {
        try {
            return new SharedArray(region, ArrayDescriptor.read(region));
        } catch (RuntimeException | Error e) {
            region.close();
            throw e;
        }
    }

    private static void requireSame(SharedArraySpec found, SharedArraySpec wanted) {
        boolean isSame = found.dtype().equals(wanted.dtype())
                && found.shape().equals(wanted.shape())
                && found.hasSpare() == wanted.hasSpare();
        if (!isSame) {
            throw Failure.of(ErrorCode.REFUSED, "a different shared array has this name")
                    .with("name", found.name())
                    .with("dtype", found.dtype())
                    .with("wantedDtype", wanted.dtype())
                    .with("shape", found.shape())
                    .with("wantedShape", wanted.shape())
                    .with("spare", found.hasSpare())
                    .with("wantedSpare", wanted.hasSpare())
                    .remedy("choose another name, or open it with its own settings");
        }
    }

    /** Returns its name. */
    public String name() {
        return spec.name();
    }

    /** Returns the dtype. */
    public Dtype dtype() {
        return spec.dtype();
    }

    /** Returns the size of each dimension. */
    public List<Long> shape() {
        return spec.shape();
    }

    /** Returns the bytes of the elements. */
    public long byteSize() {
        return spec.byteSize();
    }

    /** Returns its region, which closes with it. */
    public Region region() {
        return region;
    }

    /** Returns the lock for writers that agree on it; no method of this class takes it. */
    public SharedLock lock() {
        return lock;
    }

    /**
     * Waits until as many threads as {@code parties} have called this, in any process. All give the same number. One that dies while it waits
     * no longer counts. After a failure the others continue to wait, and this thread may call again.
     *
     * @return true for the last one alone
     * @throws LarderException DEADLINE, INTERRUPTED; REFUSED if the others give another number
     */
    public boolean barrier(int parties, Duration timeout) {
        return barrier.await(parties, timeout);
    }

    /** Returns the index of an element in C order. */
    public long flat(long... index) {
        List<Long> shape = spec.shape();
        if (index.length != shape.size()) {
            throw new IllegalArgumentException(index.length + " indices for the shape " + shape);
        }
        long place = 0;
        for (int i = 0; i < index.length; i++) {
            place = place * shape.get(i) + Objects.checkIndex(index[i], (long) shape.get(i));
        }
        return place;
    }

    /** Copies elements from {@code first} on into a part of a Java array. */
    public void read(long first, byte[] target, int from, int length) {
        copyOut(first, PrimitiveType.BYTE, target, Objects.checkFromIndexSize(from, length, target.length), length);
    }

    /** Copies a part of a Java array to elements from {@code first} on. */
    public void write(long first, byte[] source, int from, int length) {
        copyIn(first, PrimitiveType.BYTE, source, Objects.checkFromIndexSize(from, length, source.length), length);
    }

    /** Copies elements from {@code first} on into a part of a Java array. */
    public void read(long first, int[] target, int from, int length) {
        copyOut(first, PrimitiveType.INT, target, Objects.checkFromIndexSize(from, length, target.length), length);
    }

    /** Copies a part of a Java array to elements from {@code first} on. */
    public void write(long first, int[] source, int from, int length) {
        copyIn(first, PrimitiveType.INT, source, Objects.checkFromIndexSize(from, length, source.length), length);
    }

    /** Copies elements from {@code first} on into a part of a Java array. */
    public void read(long first, long[] target, int from, int length) {
        copyOut(first, PrimitiveType.LONG, target, Objects.checkFromIndexSize(from, length, target.length), length);
    }

    /** Copies a part of a Java array to elements from {@code first} on. */
    public void write(long first, long[] source, int from, int length) {
        copyIn(first, PrimitiveType.LONG, source, Objects.checkFromIndexSize(from, length, source.length), length);
    }

    /** Copies elements from {@code first} on into a part of a Java array. */
    public void read(long first, float[] target, int from, int length) {
        copyOut(first, PrimitiveType.FLOAT, target, Objects.checkFromIndexSize(from, length, target.length), length);
    }

    /** Copies a part of a Java array to elements from {@code first} on. */
    public void write(long first, float[] source, int from, int length) {
        copyIn(first, PrimitiveType.FLOAT, source, Objects.checkFromIndexSize(from, length, source.length), length);
    }

    /** Copies elements from {@code first} on into a part of a Java array. */
    public void read(long first, double[] target, int from, int length) {
        copyOut(first, PrimitiveType.DOUBLE, target, Objects.checkFromIndexSize(from, length, target.length), length);
    }

    /** Copies a part of a Java array to elements from {@code first} on. */
    public void write(long first, double[] source, int from, int length) {
        copyIn(first, PrimitiveType.DOUBLE, source, Objects.checkFromIndexSize(from, length, source.length), length);
    }

    private void copyOut(long first, PrimitiveType type, Object target, int from, int length) {
        long address = address(first, length, type);
        int size = spec.dtype().itemSize();
        Bytes.copy(null, address, target, type.arrayOffset() + (long) from * size, (long) length * size);
        requireOpen(); // if it was closed meanwhile, zeros were copied
        Reference.reachabilityFence(this);
    }

    private void copyIn(long first, PrimitiveType type, Object source, int from, int length) {
        long address = address(first, length, type);
        int size = spec.dtype().itemSize();
        Bytes.copy(source, type.arrayOffset() + (long) from * size, null, address, (long) length * size);
        requireOpen(); // if it was closed meanwhile, the write is lost
        Reference.reachabilityFence(this);
    }

    /** Copies elements of any type, at most 2 GiB, into a buffer. */
    public void read(long first, int length, MutableDirectBuffer target, int targetOffset) {
        UnsafeBuffer own = window(first, length);
        Bytes.requireWritable(target, targetOffset, own.capacity());
        target.putBytes(targetOffset, own, 0, own.capacity());
        requireOpen();
        Reference.reachabilityFence(this);
    }

    /** Copies bytes of a buffer to elements of any type, at most 2 GiB. */
    public void write(long first, int length, DirectBuffer source, int sourceOffset) {
        UnsafeBuffer own = window(first, length);
        source.boundsCheck(sourceOffset, own.capacity());
        source.getBytes(sourceOffset, own, 0, own.capacity());
        requireOpen();
        Reference.reachabilityFence(this);
    }

    private UnsafeBuffer window(long first, int length) {
        return new UnsafeBuffer(
                address(first, length), Math.multiplyExact(length, spec.dtype().itemSize()));
    }

    /** Returns elements as a buffer over the shared memory, little-endian, at most 2 GiB; it reads zeros after closing. */
    public ByteBuffer buffer(long first, int length) {
        requireOpen();
        int size = spec.dtype().itemSize();
        Objects.checkFromIndexSize(first, length, elementCount());
        return region.memory().buffer(ArrayDescriptor.ELEMENTS_OFFSET + first * size, (long) length * size);
    }

    /** Adds to elements from {@code first} on without atomicity: fast, but of additions at the same time some are lost. */
    public void addPlain(long first, float[] deltas, int from, int length) {
        Objects.checkFromIndexSize(from, length, deltas.length);
        long address = address(first, length, PrimitiveType.FLOAT);
        for (int i = 0; i < length; i++) {
            long place = address + (long) i * Float.BYTES;
            RawMemory.putFloat(place, RawMemory.getFloat(place) + deltas[from + i]);
        }
        requireOpen();
        Reference.reachabilityFence(this);
    }

    /** Adds to elements from {@code first} on without atomicity: fast, but of additions at the same time some are lost. */
    public void addPlain(long first, double[] deltas, int from, int length) {
        Objects.checkFromIndexSize(from, length, deltas.length);
        long address = address(first, length, PrimitiveType.DOUBLE);
        for (int i = 0; i < length; i++) {
            long place = address + (long) i * Double.BYTES;
            RawMemory.putDouble(place, RawMemory.getDouble(place) + deltas[from + i]);
        }
        requireOpen();
        Reference.reachabilityFence(this);
    }

    /** Sets all elements to a number, cast to their type. Refused for half precision, which Java cannot cast to. */
    public void fill(double value) {
        if (spec.dtype().kind() == Kind.FLOAT && spec.dtype().itemSize() == Short.BYTES) {
            throw new UnsupportedOperationException(
                    "half precision is filled by its bits, as a whole number: name=" + spec.name());
        }
        switch (PrimitiveType.of(spec.dtype())) {
            case FLOAT -> fill(Float.floatToRawIntBits((float) value), Float.BYTES);
            case DOUBLE -> fill(Double.doubleToRawLongBits(value), Double.BYTES);
            default -> fill((long) value);
        }
    }

    /** Sets all elements to a number, cast to their type. Half precision takes its bits. */
    public void fill(long value) {
        switch (PrimitiveType.of(spec.dtype())) {
            case FLOAT -> fill(Float.floatToRawIntBits((float) value), Float.BYTES);
            case DOUBLE -> fill(Double.doubleToRawLongBits((double) value), Double.BYTES);
            default -> fill(value, spec.dtype().itemSize());
        }
    }

    /** Writes the lower bytes of a number to all elements from private memory, because the array may change at any time. */
    private void fill(long bits, int size) {
        long address = address(0, elementCount());
        long byteSize = byteSize();
        byte[] pattern = new byte[(int) Math.min(byteSize, FILL_STEP)];
        for (int i = 0; i < pattern.length; i++) {
            pattern[i] = (byte) (bits >>> (i % size * Byte.SIZE));
        }
        for (long done = 0; done < byteSize; done += pattern.length) {
            long step = Math.min(pattern.length, byteSize - done);
            RawMemory.copy(pattern, PrimitiveType.BYTE.arrayOffset(), null, address + done, step);
        }
        requireOpen();
        Reference.reachabilityFence(this);
    }

    /**
     * Publishes a whole state: {@code writer} changes elements of this array, and is the only publisher during that time. If it fails, or
     * this process dies before its end, the elements return to the last published state, which readers get all the time.
     *
     * <p>Changes without publishing become part of the next publication, or are lost with a failed writer.
     *
     * @return the number of publications including this one
     * @throws LarderException DEADLINE if another publisher took longer
     */
    public long publish(Consumer<SharedArray> writer, Duration timeout) {
        requireOpen();
        long number = doubleBuffer().publish(() -> writer.accept(this), timeout);
        requireOpen(); // if it was closed meanwhile, the state is lost
        return number;
    }

    /** Copies the last published state, or zeros if there is none. Returns the number of publications until then. */
    public long snapshot(float[] target, Duration timeout) {
        return snapshot(target, target.length, PrimitiveType.FLOAT, timeout);
    }

    /** Copies the last published state, or zeros if there is none. Returns the number of publications until then. */
    public long snapshot(double[] target, Duration timeout) {
        return snapshot(target, target.length, PrimitiveType.DOUBLE, timeout);
    }

    /** Copies the last published state, or zeros if there is none. Returns the number of publications until then. */
    public long snapshot(long[] target, Duration timeout) {
        return snapshot(target, target.length, PrimitiveType.LONG, timeout);
    }

    private long snapshot(Object target, int length, PrimitiveType type, Duration timeout) {
        address(0, elementCount(), type);
        requireLength(length);
        long start = type.arrayOffset();
        return snapshot(
                offset -> Bytes.copy(null, region.memory().address(offset, byteSize()), target, start, byteSize()),
                timeout);
    }

    /**
     * Copies the last published state of any type, at most 2 GiB, or zeros if there is none. Returns the number of publications until then.
     */
    public long snapshot(MutableDirectBuffer target, int targetOffset, Duration timeout) {
        int byteSize = Math.toIntExact(byteSize());
        Bytes.requireWritable(target, targetOffset, byteSize);
        UnsafeBuffer source = new UnsafeBuffer(0, 0);
        return snapshot(
                offset -> {
                    source.wrap(region.memory().address(offset, byteSize), byteSize);
                    target.putBytes(targetOffset, source, 0, byteSize);
                },
                timeout);
    }

    private long snapshot(DoubleBuffer.Copy copy, Duration timeout) {
        requireOpen();
        long number = doubleBuffer().snapshot(copy, timeout);
        requireOpen(); // if it was closed meanwhile, zeros were copied
        Reference.reachabilityFence(this);
        return number;
    }

    /** Returns the number of publications. */
    public long published() {
        requireOpen();
        return doubleBuffer().published();
    }

    private void requireLength(int length) {
        if (length != elementCount()) {
            throw new IllegalArgumentException("length " + length + " for " + elementCount() + " elements");
        }
    }

    private DoubleBuffer doubleBuffer() {
        if (doubleBuffer == null) {
            throw new UnsupportedOperationException(
                    "the array has no spare to publish states: name=" + spec.name() + "; make it withSpare()");
        }
        return doubleBuffer;
    }

    @Override
    public String toString() {
        return "SharedArray{" + spec.name() + " " + spec.dtype() + " " + spec.shape() + "}";
    }

    /** Idempotent. */
    @Override
    public void close() {
        closeElements();
        region.close();
    }
}
