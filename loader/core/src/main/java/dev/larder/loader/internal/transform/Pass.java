package dev.larder.loader.internal.transform;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.RawMemory;
import dev.larder.loader.transform.SampleFunction;
import dev.larder.loader.transform.Step;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One pass over a sample: one or more steps, from its bytes to those of the next pass or of the batch.
 *
 * <p>Targets are an array and an offset as {@link RawMemory} counts them.
 */
sealed interface Pass {
    /** Returns the number of output bytes. */
    int byteSize();

    /** Allocates the memory of one thread for this pass. */
    default Room newRoom() {
        return Room.NONE;
    }

    /** Processes one sample. */
    void run(byte[] stored, int at, @Nullable Object target, long offset, TransformScratch scratch, Room room);

    /** One thread's memory for one pass. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Room(
            byte[] moved,
            byte[] made,
            float[] values,
            long[] shape,
            @Nullable ByteBuffer sample,
            @Nullable ByteBuffer result) {
        private static final byte[] NO_BYTES = {};
        private static final float[] NO_FLOATS = {};
        private static final long[] NO_SHAPE = {};
        static final Room NONE = ofBytes(NO_BYTES);

        static Room ofBytes(byte[] moved) {
            return new Room(moved, NO_BYTES, NO_FLOATS, NO_SHAPE, null, null);
        }

        static Room ofFloats(float[] values, long[] shape) {
            return new Room(NO_BYTES, NO_BYTES, values, shape, null, null);
        }
    }

    /** Moves elements if there is a mover, then changes them. */
    record Picked(
            @Nullable Mover mover,
            ElementOperation elements,
            @Nullable Border border,
            int count,
            int byteSize) implements Pass {
        @Override
        public Room newRoom() {
            return mover == null ? Room.NONE : Room.ofBytes(new byte[count * mover.itemSize()]);
        }

        @Override
        public void run(
                byte[] stored, int at, @Nullable Object target, long offset, TransformScratch scratch, Room room) {
            if (mover == null) {
                elements.run(stored, at, count, target, offset, scratch.block);
                return;
            }
            Placement placement = scratch.placement;
            if (!scratch.placed) {
                mover.place(placement, scratch.parameters);
            }
            mover.run(stored, at, room.moved, placement);
            elements.run(room.moved, 0, count, target, offset, scratch.block);
            if (border != null && placement.hasBorder()) {
                border.run(placement, target, offset);
            }
        }
    }

    /** Moves bytes and looks them up in one pass if the target is outside the heap; otherwise uses {@code plain}. */
    record Looked(MovingTable table, Picked plain) implements Pass {
        @Override
        public int byteSize() {
            return plain.byteSize();
        }

        @Override
        public Room newRoom() {
            return plain.newRoom();
        }

        @Override
        public void run(
                byte[] stored, int at, @Nullable Object target, long offset, TransformScratch scratch, Room room) {
            if (target != null) {
                plain.run(stored, at, target, offset, scratch, room);
                return;
            }
            if (!scratch.placed) {
                table.mover().place(scratch.placement, scratch.parameters);
            }
            table.run(stored, at, offset, scratch.placement);
        }
    }

    /** Runs the user's code on floats. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record MapFloats(SampleFunction function, long[] shape, int count, int number) implements Pass {
        private static final long FLOATS_OFFSET = RawMemory.arrayOffset(float[].class);

        @Override
        public int byteSize() {
            return count * Float.BYTES;
        }

        @Override
        public Room newRoom() {
            return Room.ofFloats(new float[count], shape.clone());
        }

        @Override
        public void run(
                byte[] stored, int at, @Nullable Object target, long offset, TransformScratch scratch, Room room) {
            RawMemory.copy(stored, TransformTarget.BYTES_OFFSET + at, room.values, FLOATS_OFFSET, byteSize());
            function.apply(room.values, room.shape, scratch.random(number));
            RawMemory.copy(room.values, FLOATS_OFFSET, target, offset, byteSize());
        }
    }

    /** Runs the user's code on bytes. */
    record MapBytes(Step.MapBytes step, Dtype stored, int storedByteSize, int byteSize, int number) implements Pass {
        @Override
        public Room newRoom() {
            byte[] copy = new byte[storedByteSize];
            byte[] made = new byte[byteSize];
            ByteBuffer sample = ByteBuffer.wrap(copy).asReadOnlyBuffer().order(stored.byteOrder());
            ByteBuffer result = ByteBuffer.wrap(made).order(step.dtype().byteOrder());
            return new Room(copy, made, Room.NO_FLOATS, Room.NO_SHAPE, sample, result);
        }

        @Override
        public void run(
                byte[] stored, int at, @Nullable Object target, long offset, TransformScratch scratch, Room room) {
            ByteBuffer result = Objects.requireNonNull(room.result);
            System.arraycopy(stored, at, room.moved, 0, storedByteSize);
            Arrays.fill(room.made, (byte) 0);
            step.function().apply(Objects.requireNonNull(room.sample).clear(), result.clear(), scratch.random(number));
            RawMemory.copy(room.made, TransformTarget.BYTES_OFFSET, target, offset, byteSize);
        }
    }

    /** Runs the user's code on bytes, without copies of input and output. */
    record MapRow(Step.MapRow step, int storedByteSize, int byteSize, int number) implements Pass {
        @Override
        public void run(
                byte[] stored, int at, @Nullable Object target, long offset, TransformScratch scratch, Room room) {
            scratch.sample.wrap(stored, at, storedByteSize);
            if (target instanceof byte[] array) {
                scratch.result.wrap(array, (int) (offset - TransformTarget.BYTES_OFFSET), byteSize);
            } else {
                scratch.result.wrap(offset, byteSize);
            }
            scratch.result.setMemory(0, byteSize, (byte) 0);
            var unused = step.function().apply(scratch.sample, scratch.result, scratch.random(number));
        }
    }

    /** Resizes an image. */
    record Resize(Step.Resize step, ImageShape from, int byteSize) implements Pass {
        @Override
        public void run(
                byte[] stored, int at, @Nullable Object target, long offset, TransformScratch scratch, Room room) {
            byte[] made = scratch.bytes(byteSize);
            scratch.resizing.run(stored, at, from.height(), from.width(), from.channels(), step, made);
            RawMemory.copy(made, TransformTarget.BYTES_OFFSET, target, offset, byteSize);
        }
    }

    /** Changes the colours of an image. */
    record ColourJitter(Step.ColourJitter step, int byteSize, int number) implements Pass {
        @Override
        public void run(
                byte[] stored, int at, @Nullable Object target, long offset, TransformScratch scratch, Room room) {
            byte[] made = scratch.bytes(byteSize);
            System.arraycopy(stored, at, made, 0, byteSize);
            scratch.jitter.run(step, made, 0, byteSize / 3, scratch.random(number));
            RawMemory.copy(made, TransformTarget.BYTES_OFFSET, target, offset, byteSize);
        }
    }

    /** Writes a vector for each class number. */
    record OneHot(Encoding stored, int count, int classes) implements Pass {
        private static final int ONE = Float.floatToRawIntBits(1);

        /** Checks that a class number is in range. */
        void requireClass(long label) {
            if (label < 0 || label >= classes) {
                throw Failure.of(ErrorCode.BAD_INPUT, "label is outside the classes")
                        .with("label", label)
                        .with("classes", classes)
                        .remedy("give oneHot(…) the number of classes; labels count from 0");
            }
        }

        @Override
        public int byteSize() {
            return count * classes * Float.BYTES;
        }

        @Override
        public void run(
                byte[] bytes, int at, @Nullable Object target, long offset, TransformScratch scratch, Room room) {
            for (int i = 0; i < count; i++) {
                scratch.block.decode(stored, bytes, at + i * stored.byteSize(), 1);
                long label = scratch.block.longs[0];
                if (!scratch.lenient) {
                    requireClass(label);
                }
                long first = offset + (long) i * classes * Float.BYTES;
                for (int j = 0; j < classes; j++) {
                    RawMemory.putInt(target, first + (long) j * Float.BYTES, j == label ? ONE : 0);
                }
            }
        }
    }
}
