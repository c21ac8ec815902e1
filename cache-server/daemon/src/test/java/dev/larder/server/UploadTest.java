package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.larder.client.BuildOptions;
import dev.larder.client.Dataset;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.IntegerIndexWriter;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.client.RaggedWriter;
import dev.larder.client.StringsWriter;
import dev.larder.client.TextIndexWriter;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.testing.ChildJvm;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Datasets that clients build. */
class UploadTest {
    private static final Dtype FLOAT = Dtype.parse("<f4");
    private static final Dtype BYTE = Dtype.parse("|u1");
    private static final int LARGE = 5 << 20;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private ServedStore served;
    private Larder larder;

    @BeforeEach
    void start() {
        served = ServedStore.create();
        served.start();
        larder = Larder.connect(served.root());
    }

    @AfterEach
    void stop() throws InterruptedException {
        larder.close();
        served.close();
        threads.shutdownNow();
        assertThat(threads.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void whatIsCreatedIsSeenWholeWhenItIsPublishedAndNotBefore() {
        try (DatasetBuilder builder = larder.create("made", Dtype.parse(">f8"), 3, 2)) {
            builder.array().write(2, 0.5, -1.25);
            assertThat(served.control().status().reservedBytes()).isPositive();
            assertThat(code(() -> served.control().info("made"))).isEqualTo(ErrorCode.NOT_FOUND);

            builder.publish();
        }

        try (OwnedArrayView made = larder.open("made")) {
            assertThat(made.name()).isEqualTo("data");
            assertThat(made.shape()).containsExactly(3, 2);
            assertThat(made.getDouble(1, 0)).isEqualTo(0.5);
            assertThat(made.getDouble(1, 1)).isEqualTo(-1.25);
            assertThat(made.getDouble(2, 1)).isZero();
        }
        await().until(() -> served.control().status().reservedBytes() == 0);
        assertNothingIncoming();
    }

    @Test
    void arraysOfEverySizeAndTypeArriveAsTheyWereWritten() throws IOException {
        byte[] large = new byte[LARGE];
        for (int i = 0; i < LARGE; i++) {
            large[i] = (byte) (i % 251);
        }
        try (DatasetBuilder builder = larder.build("made")) {
            builder.array("ints", Dtype.parse("<i4"), 2).write(0, 7, -8);
            builder.array("longs", Dtype.parse(">i8"), 2).write(1, 1L << 40);
            builder.array("deep/floats", FLOAT, 2).write(0, 1.5f, Float.NaN);
            builder.add(
                    "large", NpyHeader.of(BYTE, Order.C, LARGE), Channels.newChannel(new ByteArrayInputStream(large)));
            builder.publish();
        }

        try (Dataset made = larder.dataset("made")) {
            assertThat(made.array("ints").getInt(1)).isEqualTo(-8);
            assertThat(made.array("longs").getLong(1)).isEqualTo(1L << 40);
            assertThat(made.array("deep/floats").getFloat(1)).isNaN();
            assertThat(made.array("large").getInt(LARGE - 1)).isEqualTo((LARGE - 1) % 251);
        }
        assertThat(served.control().verify("made", progress -> {}).files()).isEqualTo(4);
    }

    @Test
    void whatIsBuiltIsPinnedWhereThatIsAskedFor() {
        BuildOptions options = BuildOptions.NONE.withBytes(1 << 20).withPin().withTtl(Duration.ofHours(1));
        try (DatasetBuilder builder = larder.build("made", options)) {
            builder.array("x", FLOAT, 1);
            builder.array().write(0, 2.5f);
            builder.array("y", FLOAT, 1);
            assertThatThrownBy(builder::array).isInstanceOf(IllegalStateException.class);
            builder.publish();
        }

        assertThat(served.control().info("made").get(0).pinned()).isTrue();
        assertThatThrownBy(() -> BuildOptions.NONE.withBytes(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> BuildOptions.NONE.withTtl(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void columnsAreBuiltAndRead() {
        try (DatasetBuilder builder = larder.build("made")) {
            StringsWriter paths = builder.strings("path");
            TextIndexWriter scenes = builder.textIndex("scene");
            RaggedWriter features = builder.ragged("obj_feat", FLOAT, 1);
            paths.add("größe/数.jpg");
            scenes.add("scene0685_01", 0);
            features.add(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putFloat(4, 2.5f), 2);
            builder.publish();
        }

        try (Dataset made = larder.dataset("made")) {
            long row = made.index("scene").row("scene0685_01");
            assertThat(made.strings("path").get(row)).isEqualTo("größe/数.jpg");
            assertThat(made.ragged("obj_feat").shape(row)).containsExactly(2);
            assertThat(made.ragged("obj_feat").row(row).getFloat(4)).isEqualTo(2.5f);
        }
    }

    @Test
    void aKeyThatWasAddedTwiceRefusesTheWholeBuild() {
        try (DatasetBuilder builder = larder.build("made")) {
            builder.strings("path").add("a.jpg");
            IntegerIndexWriter keys = builder.integerIndex("scene");
            keys.add(7, 0);
            keys.add(7, 1);

            assertThat(code(builder::publish)).isEqualTo(ErrorCode.BAD_INPUT);
            assertThat(code(() -> served.control().info("made"))).isEqualTo(ErrorCode.NOT_FOUND);
            assertThatThrownBy(() -> keys.add(8, 2)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> builder.strings("more")).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void aSecondBuildIsTheNextVersion() {
        for (int version = 1; version <= 2; version++) {
            try (DatasetBuilder builder = larder.create("made", FLOAT, 1)) {
                builder.array().write(0, (float) version);
                builder.publish();
            }
        }

        try (Dataset made = larder.dataset("made")) {
            assertThat(made.version()).isEqualTo(2);
            assertThat(made.array("data").getFloat(0)).isEqualTo(2);
        }
    }

    @Test
    void ofManyCallersOneBuildsAndAllReadTheSame() {
        AtomicInteger builds = new AtomicInteger();
        List<CompletableFuture<Float>> answers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            answers.add(CompletableFuture.supplyAsync(() -> readOrBuild(builds), threads));
        }

        assertThat(answers.stream().map(CompletableFuture::join)).containsOnly(1f);
        assertThat(builds).hasValue(1);
    }

    private float readOrBuild(AtomicInteger builds) {
        try (Dataset made = larder.getOrCreate(
                "made", builder -> builder.array("data", FLOAT, 1).write(0, (float) builds.incrementAndGet()))) {
            return made.array("data").getFloat(0);
        }
    }

    @Test
    void whereABuilderThrowsTheNextCallerBuilds() throws InterruptedException {
        CountDownLatch building = new CountDownLatch(1);
        CountDownLatch mayFail = new CountDownLatch(1);
        CompletableFuture<Dataset> failing = CompletableFuture.supplyAsync(
                () -> larder.getOrCreate("made", builder -> {
                    building.countDown();
                    join(mayFail);
                    throw new IllegalStateException("no luck");
                }),
                threads);
        building.await();
        AtomicInteger builds = new AtomicInteger();
        CompletableFuture<Float> next = CompletableFuture.supplyAsync(() -> readOrBuild(builds), threads);
        mayFail.countDown();

        assertThat(next.join()).isEqualTo(1f);
        assertThatThrownBy(failing::join).hasRootCauseMessage("no luck");
        assertNothingIncoming();
    }

    @Test
    void aDatasetIsComputedOnceWhoeverAsks() {
        AtomicInteger fills = new AtomicInteger();
        for (int call = 0; call < 2; call++) {
            try (Dataset squares = larder.getOrCreate("squares", build -> {
                fills.incrementAndGet();
                build.array("data", FLOAT, 2).write(0, 1f, 4f);
            })) {
                assertThat(squares.array("data").getFloat(1)).isEqualTo(4f);
            }
        }
        assertThat(fills).hasValue(1);
    }

    @Test
    void whereABuilderIsKilledTheNextCallerBuilds() {
        try (ChildJvm builder = ChildJvm.start(BuildProgram.class, served.root().toString(), "made")) {
            builder.awaitLine(BuildProgram.BUILDING);
            AtomicInteger builds = new AtomicInteger();
            CompletableFuture<Float> next = CompletableFuture.supplyAsync(() -> readOrBuild(builds), threads);
            builder.kill();

            assertThat(next.join()).isEqualTo(1f);
        }
        assertNothingIncoming();
    }

    @Test
    void aBuildThatIsClosedLeavesNothing() {
        try (DatasetBuilder builder = larder.build("made")) {
            builder.array("half", FLOAT, 1 << 20).write(0, 1.5f);
        }

        assertNothingIncoming();
        assertThat(code(() -> larder.dataset("made"))).isEqualTo(ErrorCode.NOT_FOUND);
    }

    @Test
    void whoWaitsForABuildThatIsGivenUpHearsThatThereIsNoDataset() throws InterruptedException {
        CountDownLatch waits = new CountDownLatch(1);
        CompletableFuture<LarderException> failure;
        try (DatasetBuilder builder = larder.build("made")) {
            builder.array("half", FLOAT, 1);
            failure = CompletableFuture.supplyAsync(
                    () -> catchThrowableOfType(LarderException.class, () -> awaitMade(waits)), threads);
            waits.await();
        }

        assertThat(failure.join().code()).isEqualTo(ErrorCode.NOT_FOUND);
        assertThat(failure.join())
                .hasMessageContaining("dataset did not arrive: dataset=made reason=build was abandoned");
    }

    private void awaitMade(CountDownLatch waits) {
        served.control().await("made", Duration.ofMinutes(1), progress -> waits.countDown());
    }

    @Test
    void whatSomebodyCanStillWriteToIsCopied() throws IOException {
        try (DatasetBuilder builder = larder.build("made")) {
            builder.array("large", BYTE, LARGE);
            Path file = builder.folder().resolve("large.npy");
            try (FileChannel writer = FileChannel.open(file, StandardOpenOption.WRITE)) {
                builder.publish();
                writer.write(ByteBuffer.wrap(new byte[] {77}), StoreLayout.DATA_START);
            }
        }

        try (OwnedArrayView published = larder.open("made/large")) {
            assertThat(published.getInt(0)).isZero();
        }
        served.control().verify("made", progress -> {});
        assertNothingIncoming();
    }

    @Test
    void whatAForkedChildHoldsOnlyForAMomentIsMoved() throws Exception {
        ServedStore.requireInMemory(); // else it is copied
        Path file;
        Object inode;
        try (DatasetBuilder builder = larder.build("made")) {
            builder.array("large", BYTE, LARGE);
            file = builder.folder().resolve("large.npy");
            inode = Files.getAttribute(file, "unix:ino");
            FileChannel writer = FileChannel.open(file, StandardOpenOption.WRITE);
            Thread closing = new Thread(() -> closeWhenGone(file, writer));
            closing.start();
            builder.publish();
            closing.join();
        }

        Path published = served.layout().version("made", 1).resolve("large.npy");
        assertThat(Files.getAttribute(published, "unix:ino")).isEqualTo(inode);
    }

    /** Closes as soon as the daemon has taken the file out of its folder and looks for writers. */
    private static void closeWhenGone(Path file, FileChannel writer) {
        Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> !Files.exists(file));
        try {
            writer.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void whatLinksLeadToIsCopiedAndStaysWhereItIs(@TempDir Path elsewhere) throws IOException {
        try (DatasetBuilder builder = larder.build("made")) {
            builder.array("index/own", BYTE, LARGE);
            Path own = builder.folder().resolve("index/own.npy");
            Files.copy(own, elsewhere.resolve("theirs.npy"));
            Files.createSymbolicLink(builder.folder().resolve("train"), elsewhere);
            Files.createLink(builder.folder().resolve("second.npy"), own);
            builder.publish();
        }

        assertThat(elsewhere.resolve("theirs.npy")).exists();
        try (Dataset made = larder.dataset("made")) {
            assertThat(made.arrayNames()).containsExactly("index/own", "second", "train/theirs");
            assertThat(made.array("train/theirs").byteSize()).isEqualTo(LARGE);
        }
    }

    @Test
    void anArrayThatFailedHalfWayGivesTheBuildUp() {
        try (DatasetBuilder builder = larder.build("made")) {
            assertThat(code(() -> builder.add("short", NpyHeader.of(BYTE, Order.C, 4), channel(3))))
                    .isEqualTo(ErrorCode.BAD_INPUT);

            assertThatThrownBy(builder::publish).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void filesThatAreNoArraysRefuseTheBuildWithTheReason() throws IOException {
        try (DatasetBuilder builder = larder.build("made")) {
            Files.write(builder.folder().resolve("bad.npy"), new byte[] {1, 2, 3});

            assertThat(code(builder::publish)).isEqualTo(ErrorCode.BAD_INPUT);
        }
        assertNothingIncoming();
    }

    @Test
    void aBuildWithoutAnArrayIsRefusedByItsName() {
        assertThatThrownBy(() -> larder.getOrCreate("made", builder -> {}))
                .hasMessage("a build has no array: dataset=made; add one before it is published");
        assertNothingIncoming();
    }

    @Test
    void aBuilderMayPublishItsDatasetItself() {
        try (Dataset made = larder.getOrCreate("made", builder -> {
            builder.array("data", FLOAT, 1).write(0, 4f);
            builder.publish();
        })) {
            assertThat(made.array("data").getFloat(0)).isEqualTo(4f);
        }
    }

    @Test
    void dataThatDoesNotFitItsHeaderIsRefused() {
        for (int length : new int[] {3, 5}) {
            try (DatasetBuilder builder = larder.build("made")) {
                assertThat(code(() -> builder.add("a", NpyHeader.of(BYTE, Order.C, 4), channel(length))))
                        .isEqualTo(ErrorCode.BAD_INPUT);
            }
        }
        try (DatasetBuilder builder = larder.build("made")) {
            assertThatThrownBy(() -> builder.array("overflow", FLOAT, 1).write(1L << 62, 0f))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> builder.array("b", FLOAT, 1).write(1, 0f))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> builder.array("c", FLOAT, 1).write(0, 1L))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(
                            "values do not have the dtype of the array: array=c dtype=<f4 values=i8; write values of that dtype, or its"
                                    + " bytes as a ByteBuffer");
        }
    }

    private static ReadableByteChannel channel(int length) {
        return Channels.newChannel(new ByteArrayInputStream(new byte[length]));
    }

    private void assertNothingIncoming() {
        Awaitility.await()
                .untilAsserted(
                        () -> assertThat(ServedStore.entries(served.layout().incoming()))
                                .isEmpty());
    }

    private static ErrorCode code(ThrowingCallable call) {
        return catchThrowableOfType(LarderException.class, call).code();
    }

    private static void join(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
