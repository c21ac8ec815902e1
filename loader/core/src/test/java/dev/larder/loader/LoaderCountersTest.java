package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.WorkPart;
import dev.larder.internal.posix.Posix;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.testing.StoreFixture;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(300)
@Tag("races")
class LoaderCountersTest {
    private static final Posix POSIX = Posix.system();

    private final StoreFixture store = StoreFixture.create();
    private final Path folder = store.store().resolve("loaders");
    private Larder larder;
    private Dataset dataset;

    @BeforeEach
    void open() throws IOException {
        Files.createDirectory(folder);
        store.publish("shelf", Map.of("images", Shelf.noise(1000, 300), "labels", Shelf.labels(1000)));
        larder = Larder.connect(store.store());
        dataset = larder.dataset("shelf");
    }

    @AfterEach
    void close() {
        dataset.close();
        larder.close();
        store.close();
    }

    private LoaderBuilder builder() {
        return Loader.over(dataset).shuffle(1).batchSize(10).threads(2).prefetch(3);
    }

    private List<Path> files() throws IOException {
        return files(folder);
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    static ByteBuffer read(Path file) throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static long sum(ByteBuffer file, int role, int offset) {
        long sum = 0;
        for (int row = 0; row < LoaderDescriptor.rows(file); row++) {
            int at = LoaderDescriptor.rowOffset(row);
            sum += file.getInt(at) == role ? file.getLong(at + offset) : 0;
        }
        return sum;
    }

    static long nanos(ByteBuffer file, int role, WorkPart part) {
        long sum = 0;
        for (int row = 0; row < LoaderDescriptor.rows(file); row++) {
            int at = LoaderDescriptor.rowOffset(row);
            long word = file.getLong(LoaderDescriptor.totalOffset(at, part));
            sum += file.getInt(at) == role ? LoaderDescriptor.totalNanos(word, System.nanoTime()) : 0;
        }
        return sum;
    }

    @Test
    void aLockedFileHasTheFactsAndCountersOfALoader() throws IOException {
        try (Loader loader = builder().build()) {
            loader.epoch(0).forEach(batch -> {});

            ByteBuffer file = read(files().get(0));
            LoaderDescriptor.Facts facts = LoaderDescriptor.facts(file);
            assertThat(LoaderDescriptor.isComplete(file)).isTrue();
            assertThat(facts.pid()).isEqualTo(ProcessHandle.current().pid());
            assertThat(facts.dataset() + facts.feed()).isEqualTo("shelf");
            assertThat(List.of(facts.program(), facts.threads(), facts.slots(), facts.batchSize()))
                    .containsExactly(LoaderDescriptor.PROGRAM_JAVA, 2, 3, 10);
            assertThat(facts.sampleBytes()).isEqualTo(304);
            assertThat(sum(file, LoaderDescriptor.ROLE_CONSUMER, LoaderDescriptor.BATCHES_OFFSET))
                    .isEqualTo(100);
            assertThat(nanos(file, LoaderDescriptor.ROLE_GATHERER, WorkPart.GATHERING))
                    .isPositive();
            assertThat(nanos(file, LoaderDescriptor.ROLE_CONSUMER, WorkPart.STARTING))
                    .isPositive();
            assertThat(isLocked(files().get(0))).isTrue();
            assertThat(file.limit()).isEqualTo(LoaderDescriptor.fileLength(2 + 3));
            assertThat(loader.stats().samples()).isEqualTo(1000);
            assertThat(loader.stats().bytes()).isEqualTo(1000 * 304);
        }
        assertThat(files()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0700, rw-------", "02770, rw-r-----"})
    void theGroupOfAStoreReadsTheFile(String modeOfFolder, String permissions) throws IOException {
        Files.setAttribute(folder, "unix:mode", Integer.parseInt(modeOfFolder, 8));

        try (Loader loader = builder().build()) {
            assertThat(loader.rows()).isEqualTo(1000);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(files().get(0))))
                    .isEqualTo(permissions);
        }
    }

    @Test
    void theConsumerIsTheThreadThatTakesBatchesAlsoIfAnotherOneBeganTheEpoch() throws Exception {
        try (Loader loader = builder().threads(0).build()) {
            Epoch epoch = loader.epoch(0);
            FutureTask<String> consumer = new FutureTask<>(() -> {
                epoch.forEach(batch -> {});
                return String.valueOf(
                        Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName());
            });
            new Thread(consumer).start();

            String thread = consumer.get();
            assertThat(sum(read(files().get(0)), LoaderDescriptor.ROLE_CONSUMER, LoaderDescriptor.THREAD_OFFSET))
                    .isEqualTo(Long.parseLong(thread));
        }
    }

    private static boolean isLocked(Path file) {
        int descriptor = POSIX.openForReading(file);
        try {
            return !POSIX.tryLockShared(descriptor);
        } finally {
            POSIX.close(descriptor);
        }
    }

    @Test
    void aThreadThatIsInAFunctionShowsItWhileItRuns() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Transform steps = new Transform().mapRow(Dtype.parse("|u1"), new long[] {300}, (row, result) -> {
            entered.countDown();
            await(go);
        });
        try (Loader loader =
                builder().arrays("images").transform("images", steps).build()) {
            Epoch epoch = loader.epoch(0);
            entered.await();

            ByteBuffer file = read(files().get(0));

            assertThat(nanos(file, LoaderDescriptor.ROLE_GATHERER, WorkPart.USER_CODE))
                    .isPositive();
            go.countDown();
            epoch.forEach(batch -> {});
            assertThat(nanos(read(files().get(0)), LoaderDescriptor.ROLE_GATHERER, WorkPart.USER_CODE))
                    .isPositive();
        }
    }

    @Test
    void theDecodingOfImagesIsCountedApartFromTheStepsAfterIt() throws IOException {
        try (Images images = Images.of(List.of("photo.png"))) {
            Path counters = Files.createDirectory(images.folder().resolve("loaders"));
            try (Loader loader = Loader.over(images.dataset)
                    .fields(Field.images("image").transform(new Transform().resize(600, 600)))
                    .batchSize(1)
                    .threads(0)
                    .build()) {
                loader.epoch(0).forEach(batch -> {});

                ByteBuffer file = read(files(counters).get(0));
                long decoding = nanos(file, LoaderDescriptor.ROLE_GATHERER, WorkPart.DECODING);
                long resizing = nanos(file, LoaderDescriptor.ROLE_GATHERER, WorkPart.TRANSFORMING);
                assertThat(decoding).isPositive();
                assertThat(resizing).isPositive();
                assertThat(loader.stats().transforming().toNanos()).isEqualTo(decoding + resizing);
            }
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void sixtyFiveLoadersHaveAFileEach() throws IOException {
        List<Loader> loaders = new ArrayList<>();
        for (int i = 0; i < 65; i++) {
            loaders.add(builder().threads(0).build());
        }

        assertThat(files()).hasSize(65).allMatch(LoaderCountersTest::isLocked);
        loaders.forEach(Loader::close);
        assertThat(files()).isEmpty();
    }

    @Test
    void withoutAFolderALoaderWorksAndStillHasItsStatistics() throws IOException {
        Files.delete(folder);
        try (Loader loader = builder().build()) {
            loader.epoch(0).forEach(batch -> {});

            assertThat(loader.stats().batches()).isEqualTo(100);
            assertThat(loader.stats().gathering()).isPositive();
        }
        assertThat(folder).doesNotExist();
    }

    @Test
    void aLoaderThatIsClosedKeepsItsStatistics() {
        Loader loader = builder().build();
        loader.epoch(0).forEach(batch -> {});
        loader.close();

        assertThat(loader.stats().gathering()).isPositive();
    }
}
