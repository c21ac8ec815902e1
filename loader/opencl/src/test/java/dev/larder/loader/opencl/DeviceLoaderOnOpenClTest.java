package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import dev.larder.loader.Epoch;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.Sources;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.sample.Mixture;
import dev.larder.loader.transform.Transform;
import dev.larder.loader.transform.Transforms;
import dev.larder.npy.Dtype;
import dev.larder.testing.ChildJvm;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.jocl.CL;
import org.jocl.Pointer;
import org.jocl.cl_command_queue;
import org.jocl.cl_context;
import org.jocl.cl_event;
import org.jocl.cl_mem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(300)
class DeviceLoaderOnOpenClTest {
    private final Pictures pictures = new Pictures();
    private final DeviceInfo first = new OpenClProvider().devices().get(0);
    private final OpenClOptions poisoned = OpenClOptions.DEFAULT.withPoison();

    private OpenClDevice device() {
        return OpenClDevice.of(first).with(poisoned);
    }

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void batchesAreThoseOfTheHostWhateverTheModeThreadsDepthsAndPieces(DeviceMode mode) {
        Random random = new Random(4);
        for (int round = 0; round < 6; round++) {
            OpenClOptions options = poisoned.uploadPieceBytes(1000 << random.nextInt(12));
            LoaderBuilder builder = pictures.loader().threads(random.nextInt(4)).prefetch(1 + random.nextInt(5));
            try (Loader loader = builder.device(OpenClDevice.of(first).with(options))
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
                        Field.rows("images").transform(Transforms.toFloat().cast("<f2")),
                        Field.rows("images")
                                .as("bits")
                                .transform(Transforms.toFloat().toBfloat16()),
                        Field.rows("labels").transform(Transforms.oneHot(10)),
                        Field.rows("labels").as("numbers"),
                        Field.rows("images")
                                .as("mapped")
                                .transform(Transforms.toFloat().map((values, shape, random) -> values[0] = 7)))
                .shuffle(2)
                .batch(33);
        try (Loader host = fields.build();
                Loader loader = fields.device(device()).deviceMode(mode).build()) {
            assertThat(Pictures.sum(loader.epoch(0))).isEqualTo(Pictures.sum(host.epoch(0)));
        }
    }

    @Test
    void windowsMixturesAndCollatedBatchesAreThoseOfTheHostEpochAfterEpoch() {
        LoaderBuilder windows = Loader.over(pictures.dataset)
                .fields(
                        Field.window("images", 3).stride(2).transform(Transforms.toFloat()),
                        Field.window("labels", 3).stride(2).offset(1).as("next"))
                .shuffle(2)
                .batch(17);
        LoaderBuilder mixed = Loader.over(
                        Sources.mix(Mixture.weights(2, 1).samples(150), pictures.dataset, pictures.dataset))
                .arrays("images", "labels")
                .transform("images", Transforms.randomFlip(0.5f))
                .shuffle(2)
                .batch(17);
        LoaderBuilder collated = Loader.over(pictures.dataset)
                .arrays("images")
                .collate((batch, random) -> {
                    batch.array("images").putInt(0, random.nextInt(1000));
                    batch.array("size").putInt(0, batch.size());
                })
                .output("size", Dtype.parse("<i4"))
                .shuffle(2)
                .batch(17);
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
                                .transform(Transforms.resize(7, 9)
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
                                .transform(
                                        Transforms.randomCrop(8, 8, 2).toFloat().normalize(0.5f, 0.25f)),
                        Field.rows("labels")
                                .padded()
                                .mapRagged(Dtype.parse("<i4"), new long[] {9}, (row, result) -> row.getInt(0)))
                .shuffle(3)
                .batch(33);
        try (Loader host = fields.build();
                Loader loader = fields.device(device()).deviceMode(mode).build()) {
            assertThat(Pictures.sum(loader.epoch(0))).isEqualTo(Pictures.sum(host.epoch(0)));
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void fieldsDrawApartUnlessTheyDrawTogetherAsOnTheHost(DeviceMode mode) {
        Transform crop = Transforms.randomCrop(10, 10, 3).randomFlip(0.5f);
        LoaderBuilder fields = Loader.over(pictures.dataset)
                .fields(
                        Field.rows("images").as("view1").transform(crop),
                        Field.rows("images").as("view2").transform(crop),
                        Field.rows("images").as("image").transform(crop).together("pair"),
                        Field.rows("images").as("mask").transform(crop).together("pair"))
                .shuffle(5)
                .batch(25);
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
        OpenClOptions small = poisoned.maxAllocationBytes(200_000);
        try (Loader loader = pictures.loader()
                .device(OpenClDevice.of(first).with(small))
                .deviceMode(DeviceMode.RESIDENT)
                .build()) {
            assertThat(loader.mode()).contains(DeviceMode.RESIDENT);
            assertThat(Pictures.sum(loader.epoch(0))).isEqualTo(pictures.sum(0));
        }
        OpenClOptions tiny = poisoned.memoryBytes(400_000);
        try (Loader loader = pictures.loader()
                .device(OpenClDevice.of(first).with(tiny))
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

    /** The consumer's queue stands still: what it was given must see each batch as it was, when it goes on. */
    @ParameterizedTest
    @EnumSource(
            value = DeviceMode.class,
            names = {"STREAM", "RESIDENT"})
    void slotsAreNotFilledAgainBeforeTheConsumersQueueIsDoneWithThem(DeviceMode mode) {
        List<ByteBuffer> expected =
                copies(pictures.loader().device(Device.host()).build(), 4);
        try (Loader loader = pictures.loader()
                .device(device())
                .deviceMode(mode)
                .deviceSlots(2)
                .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch batch = batches.next();
            cl_command_queue queue =
                    OpenClDevice.queue(batch.parts().get(0).queue().orElseThrow());
            Gate gate = Gate.before(queue);
            List<cl_mem> copies = new ArrayList<>();
            for (int i = 0; i < 4; i++, batch = i < 4 ? batches.next() : batch) {
                copies.add(gate.copy(batch.array("images")));
            }
            assertThat(batch.ready().isPassed())
                    .as("waits for the batch two before it")
                    .isFalse();
            gate.open();
            for (int i = 0; i < 4; i++) {
                assertThat(gate.read(copies.get(i), expected.get(i).remaining()))
                        .isEqualTo(expected.get(i));
            }
        }
    }

    private static List<ByteBuffer> copies(Loader loader, int count) {
        List<ByteBuffer> copies = new ArrayList<>();
        try (loader) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            for (int i = 0; i < count; i++) {
                BatchArray images = batches.next().array("images");
                ByteBuffer copy = ByteBuffer.allocateDirect((int) images.byteSize());
                images.read(copy);
                copies.add(copy.flip());
            }
        }
        return copies;
    }

    @Test
    void aConsumersContextAndQueueAreUsedAndStayItsOwn() {
        try (Own own = Own.of(first)) {
            OpenClDevice device = OpenClDevice.of(own.context(), own.device(), own.queue());
            try (Loader loader = pictures.loader().device(device).build()) {
                assertThat(Pictures.sum(loader.epoch(0))).isEqualTo(pictures.sum(0));
                Batch batch = loader.epoch(1).iterator().next();
                assertThat(OpenClDevice.queue(batch.parts().get(0).queue().orElseThrow()))
                        .isEqualTo(own.queue());
                assertThat(batch.array("images").nativeObject()).isInstanceOf(cl_mem.class);
            }
            assertThat(CL.clFinish(own.queue())).isEqualTo(CL.CL_SUCCESS);
        }
    }

    @Test
    void anEventOfTheConsumersHoldsTheMemoryBack() {
        try (Own own = Own.of(first);
                Loader loader = pictures.loader()
                        .device(OpenClDevice.of(own.context(), own.device(), own.queue()))
                        .deviceSlots(1)
                        .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            cl_event gate = CL.clCreateUserEvent(own.context(), null);
            batches.next().release(OpenClDevice.fence(gate));
            Batch second = batches.next();
            assertThat(second.ready().isPassed()).isFalse();
            CL.clSetUserEventStatus(gate, CL.CL_COMPLETE);
            second.await(Duration.ofSeconds(10));
            CL.clReleaseEvent(gate);
        }
    }

    @Test
    void aConsumersEventThatFailedFailsTheLoaderNamingTheCode() {
        try (Own own = Own.of(first);
                Loader loader = pictures.loader()
                        .device(OpenClDevice.of(own.context(), own.device(), own.queue()))
                        .deviceSlots(1)
                        .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            cl_event gate = CL.clCreateUserEvent(own.context(), null);
            batches.next().release(OpenClDevice.fence(gate));
            batches.next();
            CL.clSetUserEventStatus(gate, -5);
            Awaitility.await()
                    .untilAsserted(
                            () -> assertThatThrownBy(() -> loader.epoch(1).forEach(batch -> {}))
                                    .isInstanceOf(LarderException.class)
                                    .hasMessageContaining("phase=")
                                    .hasMessageContaining("CL_"));
            CL.clReleaseEvent(gate);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DeviceMode.class,
            names = {"STREAM", "RESIDENT"})
    void aShutdownHookMayCloseALoaderInTheMidstOfAnEpoch(DeviceMode mode) {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        try (ChildJvm trainer = ChildJvm.start(
                classPath,
                ChildJvm.libraryFlags(),
                EndlessTrainer.class.getName(),
                pictures.store().toString(),
                mode.toString())) {
            assertThat(trainer.awaitLine()).isEqualTo("training");
            ProcessHandle.of(trainer.pid()).orElseThrow().destroy();

            assertThat(trainer.awaitExit()).as(trainer.errors()).isEqualTo(128 + 15);
            assertThat(trainer.remainingLines()).containsExactly("closed {}");
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
            assertThat(LiveObjects.count()).as("after round " + i).isEmpty();
        }
    }

    @AfterEach
    void nothingIsLeft() {
        pictures.close();
        assertThat(LiveObjects.count()).isEmpty();
        assertThat(Thread.getAllStackTraces().keySet().stream().map(Thread::getName))
                .noneMatch(name -> name.startsWith("larder-") || name.startsWith("AsyncOpThread"));
    }

    /** A consumer's queue that stands still until the gate is opened. */
    private record Gate(cl_context context, cl_command_queue queue, cl_event event) {
        static Gate before(cl_command_queue queue) {
            cl_context context = new cl_context();
            CL.clGetCommandQueueInfo(queue, CL.CL_QUEUE_CONTEXT, org.jocl.Sizeof.cl_context, Pointer.to(context), null);
            cl_event event = CL.clCreateUserEvent(context, null);
            CL.clEnqueueBarrierWithWaitList(queue, 1, new cl_event[] {event}, null);
            return new Gate(context, queue, event);
        }

        cl_mem copy(BatchArray array) {
            cl_mem copy = CL.clCreateBuffer(context, CL.CL_MEM_READ_WRITE, array.byteSize(), null, null);
            cl_mem source = (cl_mem) array.nativeObject();
            CL.clEnqueueCopyBuffer(queue, source, copy, array.byteOffset(), 0, array.byteSize(), 0, null, null);
            return copy;
        }

        void open() {
            CL.clSetUserEventStatus(event, CL.CL_COMPLETE);
            CL.clReleaseEvent(event);
        }

        ByteBuffer read(cl_mem copy, int length) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(length);
            CL.clEnqueueReadBuffer(queue, copy, true, 0, length, Pointer.to(bytes), 0, null, null);
            CL.clReleaseMemObject(copy);
            return bytes;
        }
    }
}
