package dev.larder.distributed.shared;

import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.region.SharingStrategy;
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
 * An array that several processes write and read at the same time, apart from datasets, which nobody writes. Elements are counted from
 * 0 in C order ({@link #flat}); each is read and written by the name of its Java type, that of another is refused.
 *
 * <p>There are three ways to write, which do not know of each other:
 *
 * <ul>
 *   <li><b>element by element</b>. Plain accesses race as plain fields of an object do: of two additions at once one may be lost, but
 *       no element is torn. Volatile and atomic ones are ordered as those of {@code java.util.concurrent.atomic}.
 *   <li><b>under {@link #lock}</b>, one writer or many readers at a time, whose deaths others learn of.
 *   <li><b>as whole states</b>, {@link #publish} and {@link #snapshot}, where the array has a spare: readers always get one whole state,
 *       and never wait for a publisher that is slow, stopped or dead.
 * </ul>
 *
 * <p>The array lives as long as any process has it open. Thread-safe. Owned by whoever opened it; an access after closing is an
 * {@link IllegalStateException}, one at the same time harms nobody.
 */
@SuppressWarnings("ReachabilityFenceUsage") // an access that fails before the fence touches nothing after
public final class SharedArray extends SharedElements implements AutoCloseable {
    private static final long FILL_STEP = 1 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Region region;
    private final SharedArraySpec spec;
    private final SharedLock lock;
    private final @Nullable DoubleBuffer doubleBuffer;

    private SharedArray(Region region, SharedArraySpec spec) {
        super(region.memory(), spec);
        this.region = region;
        this.spec = spec;
        this.lock = new SharedLock(region, ArrayDescriptor.LOCK_OFFSET, ArrayDescriptor.LOCK_SEAT);
        this.doubleBuffer = spec.hasSpare() ? new DoubleBuffer(region, spec.byteSize()) : null;
    }

    /** Opens an array as a file, and makes it of zeros where there is none; see {@link #openOrCreate(Regions, SharedArraySpec, Duration)}. */
    public static SharedArray openOrCreate(Regions regions, String name, Dtype dtype, long... shape) {
        return openOrCreate(regions, SharedArraySpec.of(name, dtype, shape), PATIENCE);
    }

    /**
     * Opens an array, and makes it of zeros where there is none. All who ask for it at once get the same.
     *
     * @throws LarderException REFUSED where there is one of another dtype, shape or spare, or something else of that name; NO_SPACE;
     *     DEADLINE
     */
    public static SharedArray openOrCreate(Regions regions, SharedArraySpec spec, Duration timeout) {
        Region region;
        try {
            region = regions.openOrCreate(spec.region(), memory -> ArrayDescriptor.write(memory, spec), timeout);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.REFUSED) { // for its size or kind; where it is an array, this has better words
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

    /** Opens an array that somebody has made, or is making; waits some seconds for it. */
    public static SharedArray open(Regions regions, String name) {
        return open(regions, name, PATIENCE);
    }

    /** Opens an array that somebody has made, or is making, within a time. */
    public static SharedArray open(Regions regions, String name, Duration timeout) {
        return over(regions.open(name, ArrayDescriptor.KIND, timeout));
    }

    private static SharedArray over(Region region) {
        try {
            SharingStrategy strategy = region.row().file().isPresent() ? SharingStrategy.FILE : SharingStrategy.MEMFD;
            return new SharedArray(region, ArrayDescriptor.read(region, strategy));
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

    /** Returns what its elements are. */
    public Dtype dtype() {
        return spec.dtype();
    }

    /** Returns its sizes along each dimension. */
    public List<Long> shape() {
        return spec.shape();
    }

    /** Returns how many bytes the elements take. */
    public long byteSize() {
        return spec.byteSize();
    }

    /** Returns the region it lies in, which closes with it. */
    public Region region() {
        return region;
    }

    /** Returns the lock that those who write under one agree upon; nothing else takes it. */
    public SharedLock lock() {
        return lock;
    }

    /** Returns the place of an element among all. */
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
        Objects.checkFromIndexSize(from, length, target.length);
        copyOut(address(first, length, PrimitiveType.BYTE), target, from, length);
    }

    /** Copies a part of a Java array to elements from {@code first} on. */
    public void write(long first, byte[] source, int from, int length) {
        Objects.checkFromIndexSize(from, length, source.length);
        copyIn(address(first, length, PrimitiveType.BYTE), source, from, length);
    }

    /** Copies elements from {@code first} on into a part of a Java array. */
    public void read(long first, int[] target, int from, int length) {
        Objects.checkFromIndexSize(from, length, target.length);
        copyOut(address(first, length, PrimitiveType.INT), target, from, length);
    }

    /** Copies a part of a Java array to elements from {@code first} on. */
    public void write(long first, int[] source, int from, int length) {
        Objects.checkFromIndexSize(from, length, source.length);
        copyIn(address(first, length, PrimitiveType.INT), source, from, length);
    }

    /** Copies elements from {@code first} on into a part of a Java array. */
    public void read(long first, long[] target, int from, int length) {
        Objects.checkFromIndexSize(from, length, target.length);
        copyOut(address(first, length, PrimitiveType.LONG), target, from, length);
    }

    /** Copies a part of a Java array to elements from {@code first} on. */
    public void write(long first, long[] source, int from, int length) {
        Objects.checkFromIndexSize(from, length, source.length);
        copyIn(address(first, length, PrimitiveType.LONG), source, from, length);
    }

    /** Copies elements from {@code first} on into a part of a Java array. */
    public void read(long first, float[] target, int from, int length) {
        Objects.checkFromIndexSize(from, length, target.length);
        copyOut(address(first, length, PrimitiveType.FLOAT), target, from, length);
    }

    /** Copies a part of a Java array to elements from {@code first} on. */
    public void write(long first, float[] source, int from, int length) {
        Objects.checkFromIndexSize(from, length, source.length);
        copyIn(address(first, length, PrimitiveType.FLOAT), source, from, length);
    }

    /** Copies elements from {@code first} on into a part of a Java array. */
    public void read(long first, double[] target, int from, int length) {
        Objects.checkFromIndexSize(from, length, target.length);
        copyOut(address(first, length, PrimitiveType.DOUBLE), target, from, length);
    }

    /** Copies a part of a Java array to elements from {@code first} on. */
    public void write(long first, double[] source, int from, int length) {
        Objects.checkFromIndexSize(from, length, source.length);
        copyIn(address(first, length, PrimitiveType.DOUBLE), source, from, length);
    }

    private void copyOut(long address, Object target, int from, long length) {
        int size = spec.dtype().itemSize();
        Bytes.copy(
                null,
                address,
                target,
                PrimitiveType.of(spec.dtype()).arrayOffset() + (long) from * size,
                length * size);
        requireOpen(); // where it was closed meanwhile, zeros were copied
        Reference.reachabilityFence(this);
    }

    private void copyIn(long address, Object source, int from, long length) {
        int size = spec.dtype().itemSize();
        Bytes.copy(
                source,
                PrimitiveType.of(spec.dtype()).arrayOffset() + (long) from * size,
                null,
                address,
                length * size);
        requireOpen(); // where it was closed meanwhile, nobody else sees what was written
        Reference.reachabilityFence(this);
    }

    /** Copies elements of whatever type, at most 2 GiB, into a buffer. */
    public void read(long first, int length, MutableDirectBuffer target, int targetOffset) {
        UnsafeBuffer own = window(first, length);
        Bytes.requireWritable(target, targetOffset, own.capacity());
        target.putBytes(targetOffset, own, 0, own.capacity());
        requireOpen();
        Reference.reachabilityFence(this);
    }

    /** Copies bytes of a buffer to elements of whatever type, at most 2 GiB. */
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

    /** Returns elements as a buffer over the very memory, little-endian, at most 2 GiB; after closing it reads zeros. */
    public ByteBuffer buffer(long first, int length) {
        requireOpen();
        int size = spec.dtype().itemSize();
        Objects.checkFromIndexSize(first, length, elementCount());
        return region.memory().buffer(ArrayDescriptor.ELEMENTS_OFFSET + first * size, (long) length * size);
    }

    /** Adds to elements from {@code first} on as plain fields are added to: other processes that do so lose some, and that is fast. */
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

    /** Adds to elements from {@code first} on as plain fields are added to: other processes that do so lose some, and that is fast. */
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

    /** Makes all elements the same number, cast to their type. Refused for half precision, which Java cannot cast to. */
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

    /** Makes all elements the same number, cast to their type. Half precision takes its bits. */
    public void fill(long value) {
        switch (PrimitiveType.of(spec.dtype())) {
            case FLOAT -> fill(Float.floatToRawIntBits((float) value), Float.BYTES);
            case DOUBLE -> fill(Double.doubleToRawLongBits((double) value), Double.BYTES);
            default -> fill(value, spec.dtype().itemSize());
        }
    }

    /** Writes the lower bytes of a number everywhere, from memory of one's own: what lies in the array may change at any time. */
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
     * Publishes a state as a whole: {@code writer} changes elements of this array, and is alone in that among those who publish. Where
     * it fails, or this process dies before it has ended, the elements go back to the state that was published last; readers get that
     * one all the time.
     *
     * <p>Elements that somebody changes without publishing become part of what is published next, or are lost with a failed writer.
     *
     * @return how many states have been published by this one
     * @throws LarderException DEADLINE where another publisher took longer
     */
    public long publish(Consumer<SharedArray> writer, Duration timeout) {
        requireOpen();
        long number = doubleBuffer().publish(() -> writer.accept(this), timeout);
        requireOpen(); // where it was closed meanwhile, nobody else sees what was published
        return number;
    }

    /** Copies the last published state; zeros where there is none. Returns how many had been published by then. */
    public long snapshot(float[] target, Duration timeout) {
        return snapshot(target, target.length, PrimitiveType.FLOAT, timeout);
    }

    /** Copies the last published state; zeros where there is none. Returns how many had been published by then. */
    public long snapshot(double[] target, Duration timeout) {
        return snapshot(target, target.length, PrimitiveType.DOUBLE, timeout);
    }

    /** Copies the last published state; zeros where there is none. Returns how many had been published by then. */
    public long snapshot(long[] target, Duration timeout) {
        return snapshot(target, target.length, PrimitiveType.LONG, timeout);
    }

    private long snapshot(Object target, int length, PrimitiveType type, Duration timeout) {
        address(0, elementCount(), type);
        requireLength(length);
        long start = PrimitiveType.of(spec.dtype()).arrayOffset();
        return snapshot(
                offset -> Bytes.copy(null, region.memory().address(offset, byteSize()), target, start, byteSize()),
                timeout);
    }

    /** Copies the last published state, of whatever type, at most 2 GiB; zeros where there is none. Returns how many had been published by then. */
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
        requireOpen(); // where it was closed meanwhile, zeros were copied
        Reference.reachabilityFence(this);
        return number;
    }

    /** Returns how many states have been published. */
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
        offer(null);
        region.close();
    }
}
