package dev.larder.loader.internal.field;

import dev.larder.loader.internal.image.ImageMaker;
import dev.larder.loader.transform.SampleRandom;
import dev.larder.loader.transform.Step;
import dev.larder.npy.Dtype;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** What makes rows of one shape, or of at most one, of the bytes of rows of any length. Threads may share it. */
interface RowMaker {
    Dtype dtype();

    /** Returns the shape of a row; where rows are ragged, its first dimension is the most it can be. */
    long[] shape();

    /** Returns whether {@link #make} may write wherever it is told; else only into a heap array. */
    boolean writesAnywhere();

    /** Returns what a thread needs. */
    default @Nullable Object newRoom() {
        return null;
    }

    /** Makes a row and returns how many items it has, where rows are ragged. */
    int make(DirectBuffer row, UnsafeBuffer result, SampleRandom random, @Nullable Object room);

    /** The user's function. */
    record Mapped(Step.MapRow step) implements RowMaker {
        @Override
        public Dtype dtype() {
            return step.dtype();
        }

        @Override
        public long[] shape() {
            return step.shape().stream().mapToLong(Long::longValue).toArray();
        }

        @Override
        public boolean writesAnywhere() {
            return true;
        }

        @Override
        public int make(DirectBuffer row, UnsafeBuffer result, SampleRandom random, @Nullable Object room) {
            result.setMemory(0, result.capacity(), (byte) 0);
            return step.function().apply(row, result, random);
        }
    }

    /** Decoded images. */
    record Decoded(ImageMaker images) implements RowMaker {
        private static final Dtype BYTE = Dtype.parse("|u1");

        @Override
        public Dtype dtype() {
            return BYTE;
        }

        @Override
        public long[] shape() {
            return new long[] {images.height(), images.width(), images.channels()};
        }

        @Override
        public boolean writesAnywhere() {
            return false;
        }

        @Override
        public Object newRoom() {
            return images.newRoom();
        }

        @Override
        public int make(DirectBuffer row, UnsafeBuffer result, SampleRandom random, @Nullable Object room) {
            images.make(row, random, result.byteArray(), 0, (ImageMaker.Room) Objects.requireNonNull(room));
            return 0;
        }
    }
}
