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
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** Makes rows from the bytes of stored rows: first steps, then the user's function or the decoder, then the steps after it. */
final class MadeRows extends SampleRows {
    /** Number of the first draw for image crops; moves count from 0, functions from 2²⁰. */
    private static final int FRAME_DRAWS = 1 << 19;

    private static final Dtype BYTE = Dtype.parse("|u1");

    private final RowSteps steps;
    private final Transform rest;
    private final SampleTransform.Before restCounts;
    private final @Nullable SampleTransform before;
    private final Dtype madeDtype;
    private final long[] madeShape;
    private final Step.@Nullable MapRow map;
    private final @Nullable SampleTransform after;
    private final boolean ragged;
    private final boolean runsUserCode;
    private final int most;
    private final long seed;
    private final int draw;
    private final int madeBytes;
    private final @Nullable ImageMaker images;

    private MadeRows(SourceRows source, RowSteps steps, long seed, boolean finishes) {
        super(source);
        this.steps = steps;
        this.seed = seed;
        this.before = before(source, steps.before());
        SampleTransform.Before counts = steps.counts();
        Transform rest = steps.after();
        if (steps.maker() instanceof Step.Decode decode) {
            this.images = ImageMaker.of(decode, rest.steps());
            this.map = null;
            this.madeDtype = BYTE;
            this.madeShape = new long[] {images.height(), images.width(), images.channels()};
            this.ragged = false;
            this.draw = FRAME_DRAWS;
            rest = new Transform(
                    rest.steps().subList(images.stepCount(), rest.steps().size()));
        } else {
            this.images = null;
            this.map = (Step.MapRow) Objects.requireNonNull(steps.maker());
            this.madeDtype = map.dtype();
            this.madeShape = map.shape().stream().mapToLong(Long::longValue).toArray();
            this.ragged = map.ragged();
            this.draw = counts.mapDraw();
            counts = new SampleTransform.Before(counts.moves(), counts.maps() + 1);
        }
        this.runsUserCode = images == null || rest.steps().stream().anyMatch(RowSteps::isUserCode);
        this.most = ragged ? (int) madeShape[0] : 1;
        this.madeBytes = Math.toIntExact(new OutputArray(source.column(), madeDtype, madeShape).rowByteSize());
        this.rest = rest;
        this.restCounts = counts;
        this.after = after(finishes ? rest : new Transform(), counts);
    }

    /** Compiles the steps. Fails with {@code BAD_INPUT} if one does not fit. */
    static MadeRows of(SourceRows source, RowSteps steps, long seed) {
        if (steps.maker() instanceof Step.Decode && (!steps.before().steps().isEmpty() || !isBytes(source.dtype()))) {
            throw Failure.of(ErrorCode.BAD_INPUT, "encoded images are bytes, and decoding them is the first step")
                    .with("column", source.column())
                    .with("dtype", source.dtype())
                    .with("stepsBefore", steps.before())
                    .remedy("put decode(…) first, over a column of files or of bytes");
        }
        return new MadeRows(source, steps, seed, true);
    }

    private static boolean isBytes(Dtype dtype) {
        return dtype.itemSize() == 1;
    }

    private static @Nullable SampleTransform before(SourceRows source, Transform steps) {
        if (steps.steps().isEmpty()) {
            return null;
        }
        return source.array() == null
                ? SampleTransform.compileElements(steps, source.dtype())
                : SampleTransform.compile(steps, source.dtype(), source.shape());
    }

    private @Nullable SampleTransform after(Transform after, SampleTransform.Before counts) {
        if (after.steps().isEmpty() && images == null) {
            return null; // a function writes to the slot and a decoder to the heap
        }
        return ragged
                ? SampleTransform.compileElements(after, madeDtype)
                : SampleTransform.compile(after, madeDtype, madeShape, counts);
    }

    /** Returns a copy without the steps after the one that makes rows. */
    MadeRows unfinished() {
        return new MadeRows(source(), steps, seed, false);
    }

    /** Returns the steps that are left out. */
    SampleTransform rest() {
        return SampleTransform.compile(rest, madeDtype, madeShape, restCounts);
    }

    @Override
    Dtype dtype() {
        return after == null ? madeDtype : after.dtype();
    }

    @Override
    long[] shape() {
        long[] shape = after == null || ragged ? madeShape.clone() : after.rowShape();
        return ragged ? Arrays.copyOfRange(shape, 1, shape.length) : shape;
    }

    @Override
    boolean isRagged() {
        return ragged;
    }

    @Override
    int mostItems() {
        return ragged ? most : 0;
    }

    @Override
    boolean runsUserCode() {
        return runsUserCode;
    }

    @Override
    @Nullable
    String decoder() {
        return images == null ? null : images.decoder();
    }

    @Override
    int write(HostSlot slot, long[] rows, int first, int count, SlotArray target, int item, @Nullable Object scratch) {
        Room room = Objects.requireNonNull((Room) scratch);
        room.epoch = slot.epoch;
        int items = 0;
        for (int i = first; i < first + count; i++) {
            room.position = slot.positions[i];
            items = make(rows[i], target.memory(), target.output(), item + i - first, room);
        }
        return items;
    }

    @Override
    void writeKept(long row, UnsafeBuffer memory, TransformTarget output, Object scratch) {
        Room room = (Room) scratch;
        room.position = row; // a function's failure names this sample
        var unused = make(row, memory, output, 0, room);
    }

    /**
     * Makes one row and returns its number of items if rows are ragged.
     *
     * @param firstItem its start in the target, in rows, or in items if rows are ragged
     */
    private int make(long row, UnsafeBuffer memory, TransformTarget output, int firstItem, Room room) {
        DirectBuffer bytes = prepared(row, room);
        room.random.begin(seed, room.epoch, room.position, draw);
        UnsafeBuffer result = room.result;
        if (after == null) {
            result.wrap(memory, firstItem * (madeBytes / most), madeBytes);
        } else {
            result.wrap(room.made, 0, madeBytes);
        }
        int items = make(bytes, result, room);
        if (!isOpen()) {
            throw new IllegalStateException("the dataset was closed while a row was read");
        }
        if (ragged && (items < 0 || items > most)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the function returned an invalid length")
                    .with("length", items)
                    .with("most", most)
                    .remedy("return the number of items written, or raise the first dimension of mapRagged(…)");
        }
        if (after == null || room.afterScratch == null) {
            return items;
        }
        if (ragged) {
            int perItem = madeBytes / most / madeDtype.itemSize();
            after.applyElements(room.made, 0, items * perItem, output, firstItem * perItem, room.afterScratch);
        } else {
            after.apply(room.made, 0, output, firstItem, seed, room.epoch, room.position, room.afterScratch);
        }
        return items;
    }

    private int make(DirectBuffer row, UnsafeBuffer result, Room room) {
        if (images != null) {
            images.make(row, room.random, result.byteArray(), 0, Objects.requireNonNull(room.images));
            return 0;
        }
        result.setMemory(0, result.capacity(), (byte) 0);
        return Objects.requireNonNull(map).function().apply(row, result, room.random);
    }

    /** Returns a row's bytes after the first steps. */
    private DirectBuffer prepared(long row, Room room) {
        DirectBuffer stored = source().read(row, room.window);
        SampleTransform steps = before;
        if (steps == null || room.beforeScratch == null) {
            return stored;
        }
        boolean whole = source().array() != null;
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

    @Override
    Object newScratch() {
        return new Room(this, false);
    }

    @Override
    Object newKeptScratch() {
        return new Room(this, true);
    }

    /** One thread's memory. For rows of any length it grows to the longest row so far. */
    static final class Room {
        private final SourceRows.Window window = new SourceRows.Window();
        private final UnsafeBuffer preparedWindow = new UnsafeBuffer(new byte[0]);
        private final UnsafeBuffer result = new UnsafeBuffer(new byte[0]);
        private final StepRandom random;
        private final ImageMaker.@Nullable Room images;
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
            this.images = rows.images == null ? null : rows.images.newRoom();
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
}
