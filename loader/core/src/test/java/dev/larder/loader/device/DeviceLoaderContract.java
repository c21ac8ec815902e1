package dev.larder.loader.device;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.Batch;
import dev.larder.loader.Epoch;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.LoaderState;
import dev.larder.loader.Sources;
import dev.larder.loader.sample.Mixture;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What loaders do on any device: the same bytes as on the host, and nothing left behind. Backends' tests extend it. */
public abstract class DeviceLoaderContract {
    protected final Pictures pictures = new Pictures();

    /** For backends. */
    protected DeviceLoaderContract() {}

    /** Returns a device whose new memory is poisoned. */
    protected abstract Device device();

    /** Returns a device that does the same in another way. */
    protected Device device(Random random) {
        return device();
    }

    /** Returns one that has only so much memory, in pieces of so much. */
    protected abstract Device limited(long memoryBytes, long maxAllocationBytes);

    /** Counts what the backend has not given back, by its kind; empty where there is nothing. */
    protected abstract Map<?, ?> live();

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void batchesAreThoseOfTheHostWhateverTheModeThreadsDepthsAndPieces(DeviceMode mode) {
        Random random = new Random(4);
        for (int round = 0; round < 6; round++) {
            LoaderBuilder builder = pictures.loader().threads(random.nextInt(4)).prefetch(1 + random.nextInt(5));
            try (Loader loader = builder.device(device(random))
                    .deviceMode(mode)
                    .deviceSlots(1 + random.nextInt(4))
                    .build()) {
                assertThat(Pictures.sum(loader.epoch(round)))
                        .as("round " + round)
                        .isEqualTo(pictures.sum(round));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void otherFormsOfArraysAreTheSameToo(DeviceMode mode) {
        LoaderBuilder fields = Loader.over(pictures.dataset)
                .fields(
                        Field.rows("images").transform(new Transform().toFloat().cast("<f2")),
                        Field.rows("images")
                                .as("bits")
                                .transform(new Transform().toFloat().toBfloat16()),
                        Field.rows("labels").transform(new Transform().oneHot(10)),
                        Field.rows("labels").as("numbers"),
                        Field.rows("images")
                                .as("mapped")
                                .transform(new Transform().toFloat().map((values, shape, random) -> values[0] = 7)))
                .shuffle(2)
                .batchSize(33);
        try (Loader host = fields.build();
                Loader loader = fields.device(device()).deviceMode(mode).build()) {
            assertThat(Pictures.sum(loader.epoch(0))).isEqualTo(Pictures.sum(host.epoch(0)));
        }
    }

    @Test
    void windowsMixturesAndCollatedBatchesAreThoseOfTheHostEpochAfterEpoch() {
        LoaderBuilder windows = Loader.over(pictures.dataset)
                .fields(
                        Field.window("images", 3).stride(2).transform(new Transform().toFloat()),
                        Field.window("labels", 3).stride(2).offset(1).as("next"))
                .shuffle(2)
                .batchSize(17);
        LoaderBuilder mixed = Loader.over(
                        Sources.mix(Mixture.weights(2, 1).samples(150), pictures.dataset, pictures.dataset))
                .arrays("images", "labels")
                .transform("images", new Transform().randomFlip(0.5f))
                .shuffle(2)
                .batchSize(17);
        LoaderBuilder collated = Loader.over(pictures.dataset)
                .arrays("images")
                .collate((batch, random) -> {
                    batch.array("images").putInt(0, random.nextInt(1000));
                    batch.array("size").putInt(0, batch.size());
                })
                .output("size", Dtype.parse("<i4"))
                .shuffle(2)
                .batchSize(17);
        for (LoaderBuilder builder : List.of(windows, mixed, collated)) {
            try (Loader host = builder.build();
                    Loader loader = builder.device(device()).build()) {
                for (Epoch epoch : loader.epochs(0, 3)) {
                    assertThat(Pictures.sum(epoch)).isEqualTo(Pictures.sum(host.epoch(epoch.number())));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void rowsThatTheHostMakesAreTheSameToo(DeviceMode mode) {
        LoaderBuilder fields = Loader.over(pictures.dataset)
                .fields(
                        Field.rows("images")
                                .transform(new Transform()
                                        .resize(7, 9)
                                        .colourJitter(0.4f, 0.3f, 0.2f, 0.1f)
                                        .randomFlip(0.5f)
                                        .toFloat()),
                        Field.rows("images")
                                .as("mapped")
                                .map(Dtype.parse("|u1"), new long[] {12, 12}, (row, result, random) -> {
                                    for (int i = 0; i < result.capacity(); i++) {
                                        result.putByte(i, (byte) (row.getByte(3 * i) + random.nextInt(3)));
                                    }
                                })
                                .transform(new Transform()
                                        .randomCrop(8, 8, 2)
                                        .toFloat()
                                        .normalize(0.5f, 0.25f)),
                        Field.rows("labels")
                                .padded()
                                .mapRagged(Dtype.parse("<i4"), new long[] {9}, (row, result) -> row.getInt(0)))
                .shuffle(3)
                .batchSize(33);
        try (Loader host = fields.build();
                Loader loader = fields.device(device()).deviceMode(mode).build()) {
            assertThat(Pictures.sum(loader.epoch(0))).isEqualTo(Pictures.sum(host.epoch(0)));
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void fieldsDrawApartUnlessTheyDrawTogetherAsOnTheHost(DeviceMode mode) {
        Transform crop = new Transform().randomCrop(10, 10, 3).randomFlip(0.5f);
        LoaderBuilder fields = Loader.over(pictures.dataset)
                .fields(
                        Field.rows("images").as("view1").transform(crop),
                        Field.rows("images").as("view2").transform(crop),
                        Field.rows("images").as("image").transform(crop).together("pair"),
                        Field.rows("images").as("mask").transform(crop).together("pair"))
                .shuffle(5)
                .batchSize(25);
        try (Loader host = fields.build();
                Loader loader = fields.device(device()).deviceMode(mode).build()) {
            assertThat(Pictures.sum(loader.epoch(1))).isEqualTo(Pictures.sum(host.epoch(1)));
            Batch batch = host.epoch(1).iterator().next();
            assertThat(batch.array("view1").byteBuffer())
                    .isNotEqualTo(batch.array("view2").byteBuffer());
            assertThat(batch.array("image").byteBuffer())
                    .isEqualTo(batch.array("mask").byteBuffer());
        }
    }

    @Test
    void smallDevicesHaveShardsThenStreams() {
        try (Loader loader = pictures.loader()
                .device(limited(Long.MAX_VALUE, 200_000))
                .deviceMode(DeviceMode.RESIDENT)
                .build()) {
            assertThat(loader.mode()).contains(DeviceMode.RESIDENT);
            assertThat(Pictures.sum(loader.epoch(0))).isEqualTo(pictures.sum(0));
        }
        try (Loader loader = pictures.loader()
                .device(limited(400_000, Long.MAX_VALUE))
                .deviceMode(DeviceMode.STREAM)
                .deviceSlots(20)
                .build()) {
            assertThat(loader.slots()).isBetween(1, 19);
            assertThat(Pictures.sum(loader.epoch(0))).isEqualTo(pictures.sum(0));
        }
    }

    @Test
    void aBatchIsDividedAmongDevices() {
        try (Loader loader = pictures.loader().device(device(), device()).build()) {
            assertThat(Pictures.sum(loader.epoch(3))).isEqualTo(pictures.sum(3));
        }
    }

    @Test
    void openingAndClosingAgainAndAgainLeavesNothing() {
        for (int i = 0; i < 60; i++) {
            try (Loader loader = pictures.loader()
                    .device(device())
                    .deviceMode(i % 2 == 0 ? DeviceMode.STREAM : DeviceMode.RESIDENT)
                    .build()) {
                Iterator<Batch> batches = loader.epoch(i).iterator();
                for (int batch = 0; batch < i % 5; batch++) {
                    batches.next();
                }
            }
            assertThat(live()).as("after round " + i).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void whatWasLeftComesAfterResuming(DeviceMode mode) {
        LoaderBuilder builder = pictures.loader().device(device()).deviceMode(mode);
        LoaderState state;
        long rest;
        try (Loader loader = builder.build()) {
            Iterator<Batch> batches = loader.epoch(2).iterator();
            batches.next();
            Batch last = batches.next();
            state = last.stateAfter();
            rest = Pictures.sum(() -> batches);
        }
        try (Loader loader = builder.build();
                Loader host = pictures.loader().build()) {
            assertThat(Pictures.sum(loader.resume(state))).isEqualTo(rest);
            assertThat(Pictures.sum(host.resume(state))).isEqualTo(rest);
        }
    }

    @AfterEach
    void nothingIsLeft() {
        pictures.close();
        assertThat(live()).isEmpty();
        assertThat(Thread.getAllStackTraces().keySet().stream().map(Thread::getName))
                .noneMatch(name -> name.startsWith("larder-"));
    }
}
