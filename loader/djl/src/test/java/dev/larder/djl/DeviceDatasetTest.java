package dev.larder.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.util.ProgressBar;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.FailurePolicy;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.transform.Transform;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@EnabledIfSystemProperty(named = "os.arch", matches = "amd64")
class DeviceDatasetTest {
    private final Shelf shelf = Shelf.ofSamples(10);
    private final NDManager manager = NDManager.newBaseManager(Device.cpu(), "PyTorch");
    private final FakeDevice device = new FakeDevice();

    @AfterEach
    void leavesNothing() {
        manager.close();
        shelf.close();
        assertThat(device.liveObjects()).isZero();
    }

    private LoaderBuilder halved() {
        return Loader.over(shelf.dataset)
                .fields(Field.rows("images").transform(new Transform().scale(0.5f, 0)), Field.rows("labels"))
                .shuffle(42)
                .batchSize(4);
    }

    /** Lists all numbers of an epoch, and where its batches are. */
    private List<Object> contents(Iterable<Batch> epoch) {
        List<Object> contents = new ArrayList<>();
        for (Batch batch : epoch) {
            contents.add(batch.getData().get(0).getShape());
            contents.add(batch.getData().get(0).toFloatArray());
            contents.add(batch.getLabels().get(0).toIntArray());
            contents.add(batch.getIndices());
            contents.add(batch.getProgress());
            contents.add(batch.getProgressTotal());
            batch.close();
        }
        return contents;
    }

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void batchesOfADeviceAreThoseOfTheHost(DeviceMode mode) {
        try (Loader host = halved().build();
                Loader loader = halved().device(device).deviceMode(mode).build()) {
            LarderDataset expected = new LarderDataset(host, "images", "labels").startAt(3);
            DeviceDataset dataset = new DeviceDataset(loader, "images", "labels").startAt(3);

            for (int epoch = 3; epoch < 6; epoch++) {
                assertThat(contents(dataset.getData(manager)))
                        .usingRecursiveComparison()
                        .isEqualTo(contents(expected.getData(manager)));
            }
        }
    }

    @Test
    void batchesOfADeviceAreNotForTheDatasetOfTheHost() {
        try (Loader loader = halved().device(device).build()) {
            assertThatThrownBy(() -> new LarderDataset(loader, "images", "labels"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("use DeviceDataset");
        }
    }

    @Test
    void aBatchThatStaysOpenKeepsItsValuesWhileOthersAreRead() {
        try (Loader loader = shelf.loader().device(device).deviceSlots(1).build()) {
            DeviceDataset dataset = new DeviceDataset(loader, "images", "labels");
            Iterator<Batch> batches = dataset.getData(manager).iterator();
            Batch first = batches.next();
            Batch second = batches.next();
            Batch third = batches.next();

            assertThat(first.getLabels().get(0).toIntArray()).containsExactly(0, 1, 2, 3);
            assertThat(second.getLabels().get(0).toIntArray()).containsExactly(4, 5, 6, 7);
            assertThat(third.getLabels().get(0).toIntArray()).containsExactly(8, 9);
            assertThat(batches.hasNext()).isFalse();
        }
    }

    @Test
    void buffersOfClosedBatchesAreUsedAgain() {
        try (Loader loader = shelf.loader().device(device).build()) {
            DeviceDataset dataset = new DeviceDataset(loader, "images", "labels");
            for (int epoch = 0; epoch < 20; epoch++) {
                assertThat(contents(dataset.getData(manager))).hasSize(18);
            }

            assertThat(dataset.freeBuffers()).as("one for each array").isEqualTo(2);
        }
    }

    @Test
    void batchesThatStayOnTheHostAreReadAsWell() {
        FakeDevice tiny = new FakeDevice().memory(10, 10).orHost();
        try (Loader loader = shelf.loader().device(tiny).build()) {
            DeviceDataset dataset = new DeviceDataset(loader, List.of("images", "labels"), List.of());
            assertThat(loader.mode()).isEmpty();
            try (Batch batch = dataset.getData(manager).iterator().next()) {
                assertThat(batch.getData().get(1).toIntArray()).containsExactly(0, 1, 2, 3);
                assertThat(batch.getLabels()).isEmpty();
            }
        }
    }

    @Test
    void typesThatDjlDoesNotTakeAreRefusedWithWhatToDo() {
        try (Loader loader = Loader.over(shelf.dataset)
                .fields(Field.rows("labels").transform(new Transform().cast("<u2")))
                .batchSize(3)
                .device(device)
                .build()) {
            Iterator<Batch> batches = new DeviceDataset(loader, List.of("labels"), List.of())
                    .getData(manager)
                    .iterator();

            assertThatThrownBy(batches::next)
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                    .hasMessageContaining("array=labels dtype=<u2");
        }
    }

    @Test
    void aDeviceThatFailsFailsTheLoop() {
        try (Loader loader = shelf.loader()
                .device(device.failOperation(9))
                .deviceMode(DeviceMode.STREAM)
                .build()) {
            DeviceDataset dataset = new DeviceDataset(loader, "images", "labels");

            assertThatThrownBy(() -> contents(dataset.getData(manager)))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("FAKE_FAILED");
        }
    }

    @Test
    void batchesWithoutAnySampleAreLeftOut() {
        try (Loader loader = shelf.loader()
                .batchSize(1)
                .transform("images", new Transform().map((values, shape, random) -> requireSmall(values)))
                .onFailure(FailurePolicy.skip(10))
                .device(device)
                .build()) {
            DeviceDataset dataset = new DeviceDataset(loader, "images", "labels");

            assertThat(contents(dataset.getData(manager))).hasSize(6 * 7);
        }
    }

    private static void requireSmall(float[] values) {
        if (values[0] > 6) {
            throw new IllegalStateException("too large");
        }
    }

    @Test
    void preparingShowsThatNothingIsLeftToDo() {
        try (Loader loader = shelf.loader().device(device).build()) {
            DeviceDataset dataset = new DeviceDataset(loader, "images", "labels");

            dataset.prepare(null);
            dataset.prepare(new ProgressBar());

            assertThat(dataset).hasToString("DeviceDataset{data [images] labels [labels] of " + loader + "}");
            assertThatThrownBy(() -> new DeviceDataset(loader, List.of(), List.of("labels")))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
