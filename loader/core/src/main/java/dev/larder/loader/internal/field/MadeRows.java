package dev.larder.loader.internal.field;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.image.ImageMaker;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.StepRandom;
import dev.larder.loader.internal.transform.TransformScratch;
import dev.larder.loader.internal.transform.TransformTarget;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import dev.larder.loader.transform.Transforms;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Makes rows of a batch of the bytes of rows: steps before, the user's function or the decoder, and steps after it.
 * Threads may share it, each with a {@link Room}.
 */
final class MadeRows {
    /** The draws of what cuts images; those of moves count from 0, those of functions from 2²⁰. */
    private static final int FRAME_DRAWS = 1 << 19;

    private final RowBytes source;
    private final RowSteps steps;
    private final Transform rest;
    private final SampleTransform.Before restCounts;
    private final @Nullable SampleTransform before;
    private final RowMaker maker;
    private final @Nullable SampleTransform after;
    private final boolean ragged;
    private final boolean runsUserCode;
    private final boolean whole;
    private final int most;
    private final long seed;
    private final int draw;
    private final int madeBytes;
    private final OutputArray made;
    private final @Nullable ImageMaker images;

    private MadeRows(RowBytes source, RowSteps steps, String name, long seed, boolean finishes) {
        this.source = source;
        this.steps = steps;
        this.seed = seed;
        this.before = before(source, steps.before());
        SampleTransform.Before counts = steps.counts();
        Transform rest = steps.after();
        if (steps.maker() instanceof Step.Decode decode) {
            this.images = ImageMaker.of(decode, rest.steps());
            this.maker = new RowMaker.Decoded(images);
            this.ragged = false;
            this.draw = FRAME_DRAWS;
            rest = new Transform(
                    rest.steps().subList(images.stepCount(), rest.steps().size()));
        } else {
            Step.MapRow map = (Step.MapRow) Objects.requireNonNull(steps.maker());
            this.images = null;
            this.maker = new RowMaker.Mapped(map);
            this.ragged = map.ragged();
            this.draw = counts.mapDraw();
            counts = new SampleTransform.Before(counts.moves(), counts.maps() + 1);
        }
        this.runsUserCode = images == null || rest.steps().stream().anyMatch(TransformedReader::isUserCode);
        this.whole = source.rowShape() != null;
        this.most = ragged ? (int) maker.shape()[0] : 1;
        this.madeBytes = Math.toIntExact(new OutputArray(name, maker.dtype(), maker.shape()).rowByteSize());
        this.rest = rest;
        this.restCounts = counts;
        this.after = after(maker, ragged, finishes ? rest : Transforms.none(), counts);
        Dtype dtype = after == null ? maker.dtype() : after.dtype();
        this.made = new OutputArray(name, dtype, after == null || ragged ? maker.shape() : after.rowShape());
    }

    /** Compiles the steps; fails with {@code BAD_INPUT} where one does not fit. */
    static MadeRows of(RowBytes source, RowSteps steps, String name, long seed) {
        if (steps.maker() instanceof Step.Decode && (!steps.before().steps().isEmpty() || !isBytes(source.dtype()))) {
            throw Failure.of(ErrorCode.BAD_INPUT, "encoded images are bytes, and decoding them is the first step")
                    .with("column", source.column())
                    .with("dtype", source.dtype())
                    .with("stepsBefore", steps.before())
                    .remedy("put decode(…) first, over a column of files or of bytes");
        }
        return new MadeRows(source, steps, name, seed, true);
    }

    private static boolean isBytes(Dtype dtype) {
        return dtype.itemSize() == 1;
    }

    private static @Nullable SampleTransform before(RowBytes source, Transform steps) {
        if (steps.steps().isEmpty()) {
            return null;
        }
        long[] shape = source.rowShape();
        return shape == null
                ? SampleTransform.compileElements(steps, source.dtype())
                : SampleTransform.compile(steps, source.dtype(), shape);
    }

    private static @Nullable SampleTransform after(
            RowMaker maker, boolean ragged, Transform steps, SampleTransform.Before counts) {
        if (steps.steps().isEmpty() && maker.writesAnywhere()) {
            return null;
        }
        return ragged
                ? SampleTransform.compileElements(steps, maker.dtype())
                : SampleTransform.compile(steps, maker.dtype(), maker.shape(), counts);
    }

    /** Returns one that leaves out the steps after the one that makes rows. */
    MadeRows unfinished() {
        return new MadeRows(source, steps, made.name(), seed, false);
    }

    /** Returns the steps that it leaves out. */
    SampleTransform rest() {
        return SampleTransform.compile(rest, maker.dtype(), maker.shape(), restCounts);
    }

    RowBytes source() {
        return source;
    }

    boolean isRagged() {
        return ragged;
    }

    boolean runsUserCode() {
        return runsUserCode;
    }

    /** Returns what a row becomes; where rows are ragged, the first dimension is the most it can be. */
    OutputArray made() {
        return made;
    }

    /** Returns what decodes images; nothing where there are none. */
    @Nullable
    String decoder() {
        return images == null ? null : images.decoder();
    }

    /**
     * Makes one row, and returns how many items it has where rows are ragged.
     *
     * @param firstItem where it begins in the target: counted in rows, where rows are ragged in items along their first
     *     dimension
     */
    int make(HostSlot slot, int sample, long row, SlotArray target, int firstItem, Room room) {
        room.epoch = slot.epoch;
        room.position = slot.positions[sample];
        return make(row, target.memory(), target.output(), firstItem, room);
    }

    /** Makes a row that comes out the same each time; fails whoever draws. */
    void makeKept(long row, UnsafeBuffer memory, TransformTarget output, Room roomWithoutRandom) {
        roomWithoutRandom.position = row; // which sample a failing function had
        var unused = make(row, memory, output, 0, roomWithoutRandom);
    }

    private int make(long row, UnsafeBuffer memory, TransformTarget output, int firstItem, Room room) {
        DirectBuffer bytes = prepared(row, room);
        room.random.begin(seed, room.epoch, room.position, draw);
        UnsafeBuffer result = room.result;
        if (after == null) {
            result.wrap(memory, firstItem * (madeBytes / most), madeBytes);
        } else {
            result.wrap(room.made, 0, madeBytes);
        }
        int items = maker.make(bytes, result, room.random, room.makerRoom);
        if (!source.isOpen()) {
            throw new IllegalStateException("the dataset was closed while a row was read");
        }
        if (ragged && (items < 0 || items > most())) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the function returned a length that it cannot have")
                    .with("length", items)
                    .with("most", most())
                    .remedy(
                            "return how many items of the result were written, or raise the first dimension of mapRagged(…)");
        }
        if (after == null || room.afterScratch == null) {
            return items;
        }
        if (ragged) {
            int perItem = madeBytes / most / maker.dtype().itemSize();
            after.applyElements(room.made, 0, items * perItem, output, firstItem * perItem, room.afterScratch);
        } else {
            after.apply(room.made, 0, output, firstItem, seed, room.epoch, room.position, room.afterScratch);
        }
        return items;
    }

    /** Returns the most items that a ragged row has. */
    int most() {
        return most;
    }

    /** Returns a row's bytes after the steps before. */
    private DirectBuffer prepared(long row, Room room) {
        DirectBuffer stored = source.read(row, room.window);
        SampleTransform steps = before;
        if (steps == null || room.beforeScratch == null) {
            return stored;
        }
        int length = stored.capacity();
        int elements = whole ? 1 : length / steps.storedByteSize();
        room.reserve(length, elements * steps.rowByteSize());
        stored.getBytes(0, room.stored, 0, length);
        if (whole) {
            steps.apply(room.stored, 0, room.preparedTarget, 0, seed, room.epoch, room.position, room.beforeScratch);
        } else {
            steps.applyElements(room.stored, 0, elements, room.preparedTarget, 0, room.beforeScratch);
        }
        room.preparedWindow.wrap(room.prepared, 0, elements * steps.rowByteSize());
        return room.preparedWindow;
    }

    Room newRoom() {
        return new Room(this, false);
    }

    /** Returns one whose functions may not draw. */
    Room newRoomWithoutRandom() {
        return new Room(this, true);
    }

    /** One thread's memory; for rows of any length, as long as the longest that it met. */
    static final class Room {
        private final RowBytes.Window window = new RowBytes.Window();
        private final UnsafeBuffer preparedWindow = new UnsafeBuffer(new byte[0]);
        private final UnsafeBuffer result = new UnsafeBuffer(new byte[0]);
        private final StepRandom random;
        private final @Nullable Object makerRoom;
        private final @Nullable TransformScratch beforeScratch;
        private final @Nullable TransformScratch afterScratch;
        private final byte[] made;
        private byte[] stored = {};
        private byte[] prepared = {};
        private TransformTarget preparedTarget = TransformTarget.of(ByteBuffer.wrap(prepared));

        private long epoch;
        private long position;

        private Room(MadeRows rows, boolean refusesRandom) {
            this.random = refusesRandom ? StepRandom.refusing() : new StepRandom();
            this.makerRoom = rows.maker.newRoom();
            this.beforeScratch = newScratch(rows.before, refusesRandom);
            this.afterScratch = newScratch(rows.after, refusesRandom);
            this.made = new byte[rows.after == null ? 0 : rows.madeBytes];
        }

        private static @Nullable TransformScratch newScratch(@Nullable SampleTransform steps, boolean refusesRandom) {
            if (steps == null) {
                return null;
            }
            return refusesRandom ? steps.newScratchWithoutRandom() : steps.newScratch();
        }

        private void reserve(int storedLength, int preparedLength) {
            if (stored.length < storedLength) {
                stored = new byte[storedLength + storedLength / 4];
            }
            if (prepared.length < preparedLength) {
                prepared = new byte[preparedLength + preparedLength / 4];
                preparedTarget = TransformTarget.of(ByteBuffer.wrap(prepared));
            }
        }
    }

    /** Returns the array of batches that have such rows. */
    List<OutputArray> outputs() {
        return List.of(made);
    }
}
