package dev.larder.distributed.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Regions;
import dev.larder.error.LarderException;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("races")
class SharedArrayTest {
    private static final Dtype FLOAT = Dtype.parse("<f4");
    private static final Dtype LONG = Dtype.parse("<i8");
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final OwnFolder folder = new OwnFolder();
    private final Regions regions = folder.regions();

    @AfterEach
    void clearUp() {
        regions.close();
        folder.close();
    }

    @Test
    void whatOneWritesTheOtherReads() {
        try (SharedArray written = SharedArray.openOrCreate(regions, "w", FLOAT, 3, 4);
                Regions others = folder.regions();
                SharedArray read = SharedArray.open(others, "w")) {
            written.setFloat(written.flat(2, 3), 1.5f);
            written.setFloatVolatile(0, -2f);

            assertThat(read.getFloat(11)).isEqualTo(1.5f);
            assertThat(read.getFloatVolatile(0)).isEqualTo(-2f);
            assertThat(read.shape()).containsExactly(3L, 4L);
            assertThat(read.dtype()).isEqualTo(FLOAT);
        }
    }

    @Test
    void anArrayWhoseDescriptionIsSpoiledIsRefused() {
        try (SharedArray array = SharedArray.openOrCreate(regions, "w", FLOAT, 3, 4);
                Regions others = folder.regions()) {
            SharedMemory memory = array.region().memory();
            Map.of(
                            ArrayDescriptor.DTYPE_LENGTH_OFFSET, 1 << 20,
                            ArrayDescriptor.RANK_OFFSET, -1,
                            ArrayDescriptor.SHAPE_OFFSET, 4,
                            ArrayDescriptor.DTYPE_OFFSET, 0x20202020,
                            ArrayDescriptor.HAS_SPARE_OFFSET, 1)
                    .forEach((offset, spoiled) -> {
                        int good = memory.getInt(offset);
                        memory.putInt(offset, spoiled);
                        assertThatThrownBy(() -> SharedArray.open(others, "w", PATIENCE))
                                .hasMessageStartingWith("the region is damaged: name=w kind=shared-array");
                        memory.putInt(offset, good);
                    });
            SharedArray.open(others, "w", PATIENCE).close();
        }
    }

    @Test
    void everyTypeOfElementIsReadAsItWasWritten() {
        try (SharedArray bytes = SharedArray.openOrCreate(regions, "b", Dtype.parse("|u1"), 2);
                SharedArray shorts = SharedArray.openOrCreate(regions, "s", Dtype.parse("<f2"), 2);
                SharedArray ints = SharedArray.openOrCreate(regions, "i", Dtype.parse("<i4"), 2);
                SharedArray doubles = SharedArray.openOrCreate(regions, "d", Dtype.parse("<f8"), 2)) {
            bytes.setByte(1, (byte) 200);
            shorts.setShort(1, (short) 0x3c00);
            ints.setInt(1, -7);
            doubles.setDouble(1, Math.PI);

            assertThat(bytes.getByte(1)).isEqualTo((byte) 200);
            assertThat(shorts.getShort(1)).isEqualTo((short) 0x3c00);
            assertThat(ints.getInt(1)).isEqualTo(-7);
            assertThat(doubles.getDouble(1)).isEqualTo(Math.PI);
        }
    }

    @Test
    void additionsInOneStepLoseNothing() {
        try (SharedArray floats = SharedArray.openOrCreate(regions, "f", FLOAT, 2);
                SharedArray longs = SharedArray.openOrCreate(regions, "l", LONG, 2)) {
            CompletableFuture<?>[] adders = new CompletableFuture<?>[4];
            for (int i = 0; i < adders.length; i++) {
                adders[i] = CompletableFuture.runAsync(() -> {
                    for (int k = 0; k < 10_000; k++) {
                        floats.addFloat(1, 1);
                        longs.addLong(1, 3);
                    }
                });
            }
            assertThat(CompletableFuture.allOf(adders)).succeedsWithin(PATIENCE);

            assertThat(floats.getFloat(1)).isEqualTo(40_000);
            assertThat(longs.getLong(1)).isEqualTo(120_000);
        }
    }

    @Test
    void compareAndSetTellsFloatsApartBitForBit() {
        try (SharedArray array = SharedArray.openOrCreate(regions, "f", FLOAT, 1)) {
            assertThat(array.compareAndSetFloat(0, -0f, 1)).isFalse();
            assertThat(array.compareAndSetFloat(0, 0f, Float.NaN)).isTrue();
            assertThat(array.compareAndSetFloat(0, Float.NaN, 2)).isTrue();
            assertThat(array.addFloat(0, 0.5f)).isEqualTo(2);
            assertThat(array.getFloat(0)).isEqualTo(2.5f);
        }
    }

    @Test
    void partsAreCopiedAsAModelSays() {
        long seed = System.nanoTime();
        System.err.println("seed " + seed);
        Random random = new Random(seed);
        float[] model = new float[1000];
        try (SharedArray array = SharedArray.openOrCreate(regions, "f", FLOAT, 10, 100)) {
            for (int turn = 0; turn < 500; turn++) {
                int first = random.nextInt(1000);
                int length = random.nextInt(1000 - first + 1);
                change(array, model, first, length, random);
            }
            float[] found = new float[1000];
            array.read(0, found, 0, 1000);
            assertThat(found).isEqualTo(model);
        }
    }

    private static void change(SharedArray array, float[] model, int first, int length, Random random) {
        float[] values = new float[length + 3];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextFloat();
        }
        if (random.nextBoolean()) {
            array.write(first, values, 3, length);
            System.arraycopy(values, 3, model, first, length);
        } else {
            array.addPlain(first, values, 3, length);
            for (int i = 0; i < length; i++) {
                model[first + i] += values[3 + i];
            }
        }
    }

    @Test
    void buffersOfOthersAreCopiedFromAndTo() {
        try (SharedArray array = SharedArray.openOrCreate(regions, "l", LONG, 4)) {
            UnsafeBuffer source = new UnsafeBuffer(new byte[24]);
            source.putLong(8, 5);
            source.putLong(16, 6);
            array.write(1, 2, source, 8);
            UnsafeBuffer target = new UnsafeBuffer(new byte[32]);
            array.read(0, 4, target, 0);

            assertThat(target.getLong(8)).isEqualTo(5);
            assertThat(array.getLong(2)).isEqualTo(6);
            assertThat(array.buffer(1, 2).getLong(8)).isEqualTo(6);
            UnsafeBuffer readOnly =
                    new UnsafeBuffer(ByteBuffer.allocateDirect(32).asReadOnlyBuffer());
            assertThatThrownBy(() -> array.read(0, 4, readOnly, 0)).isInstanceOf(ReadOnlyBufferException.class);
            assertThatThrownBy(() -> array.read(0, 4, target, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void fillingReachesEveryElement() {
        try (SharedArray floats = SharedArray.openOrCreate(regions, "f", FLOAT, 700_001);
                SharedArray halves = SharedArray.openOrCreate(regions, "h", Dtype.parse("<f2"), 3);
                SharedArray bytes = SharedArray.openOrCreate(regions, "b", Dtype.parse("|i1"), 5)) {
            floats.fill(0.25);
            bytes.fill(-3);
            halves.fill(0x3c00);
            assertThat(halves.getShort(2)).isEqualTo((short) 0x3c00);
            assertThatThrownBy(() -> halves.fill(1.0)).isInstanceOf(UnsupportedOperationException.class);
            float[] found = new float[700_001];
            floats.read(0, found, 0, found.length);

            assertThat(found).containsOnly(0.25f);
            assertThat(bytes.getByte(4)).isEqualTo((byte) -3);
        }
    }

    @Test
    void arraysOfOtherShapesAreRefusedInWordsOfBothSides() {
        try (SharedArray array = SharedArray.openOrCreate(regions, "w", FLOAT, 3)) {
            assertThatThrownBy(() -> SharedArray.openOrCreate(regions, "w", FLOAT, 4))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("shape=[3] wantedShape=[4]");
            assertThatThrownBy(() -> SharedArray.openOrCreate(regions, "w", Dtype.parse("<i4"), 3))
                    .hasMessageContaining("dtype=<f4 wantedDtype=<i4");
            assertThat(array.elementCount()).isEqualTo(3);
        }
    }

    @Test
    void mistakesAreRefused() {
        SharedArray array = SharedArray.openOrCreate(regions, "w", FLOAT, 3);

        assertThatThrownBy(() -> array.getFloat(3)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> array.setFloat(-1, 0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> array.getInt(0)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> array.read(2, new float[2], 0, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> array.read(0, new float[2], 1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> array.publish(a -> {}, PATIENCE)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> SharedArraySpec.of("w", Dtype.parse(">f4"), 3)).isInstanceOf(LarderException.class);
        assertThatThrownBy(() -> SharedArraySpec.of("w", FLOAT, 1L << 57)).isInstanceOf(LarderException.class);
        array.close();
        array.close();
        assertThatThrownBy(() -> array.getFloat(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> array.addFloat(0, 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> array.read(0, new float[1], 0, 1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void arraysBeyondTwoGibibytesAreAddressed() {
        assumeThat(folder.path().toFile().getUsableSpace()).isGreaterThan(3L << 30);
        long count = (2L << 30) / Long.BYTES + 1;
        try (SharedArray array = SharedArray.openOrCreate(regions, "huge", LONG, count)) {
            array.setLong(count - 1, 99);
            array.addLong(count - 1, 1);

            assertThat(array.getLong(count - 1)).isEqualTo(100);
            assertThat(array.byteSize()).isEqualTo((2L << 30) + Long.BYTES);
        }
    }

    @Test
    void whatIsWrittenWhileItIsClosedIsNoSuccess() {
        SharedArray array = SharedArray.openOrCreate(
                regions, SharedArraySpec.of("w", FLOAT, 3).withSpare(), PATIENCE);

        assertThatThrownBy(() -> array.publish(SharedArray::close, PATIENCE)).isInstanceOf(IllegalStateException.class);
    }
}
