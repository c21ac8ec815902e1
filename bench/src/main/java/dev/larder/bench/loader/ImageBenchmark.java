package dev.larder.bench.loader;

import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import dev.larder.bench.Rows;
import dev.larder.client.BytesColumn;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.transform.Transform;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.DirectBuffer;

/**
 * Makes training batches of JPEG files, and decodes them with libjpeg-turbo only, on as many threads, in turns. Prints a row of JSON for
 * each.
 */
final class ImageBenchmark {
    private static final int BATCH = 64;
    private static final int ROUNDS = 5;
    private static final int HEADER_BYTES = 16;

    private final BytesColumn files;
    private final Dataset dataset;
    private final long windowNs;
    private final int threads;
    private long sum;
    private String decoder = "";

    private ImageBenchmark(Dataset dataset, String column, double seconds, int threads) {
        this.dataset = dataset;
        this.files = dataset.bytes(column);
        this.windowNs = (long) (seconds * 1e9);
        this.threads = threads;
    }

    /** Arguments: the store, the dataset with a column of files, the seconds for each round and the number of threads. */
    public static void main(String[] arguments) throws InterruptedException {
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Dataset dataset = larder.dataset(arguments[1])) {
            new ImageBenchmark(dataset, "files", Double.parseDouble(arguments[2]), Integer.parseInt(arguments[3]))
                    .run();
        }
    }

    private void run() throws InterruptedException {
        List<Rate> loaded = new ArrayList<>();
        List<Rate> decoded = new ArrayList<>();
        try (Loader loader = loader()) {
            var unused = List.of(loaded(loader), decoded()); // compiles
            for (int round = 0; round < ROUNDS; round++) {
                loaded.add(loaded(loader));
                decoded.add(decoded());
            }
        }
        print("loader", loaded);
        print("decode", decoded);
        if (sum == 0) {
            throw new IllegalStateException("nothing was read");
        }
    }

    private Loader loader() {
        float[] means = {0.485f, 0.456f, 0.406f};
        float[] deviations = {0.229f, 0.224f, 0.225f};
        return Loader.over(dataset)
                .fields(Field.images(files.name())
                        .transform(new Transform()
                                .randomResizedCrop(224, 224)
                                .randomFlip(0.5f)
                                .toFloat()
                                .normalize(means, deviations)
                                .channelsFirst()))
                .shuffle(1)
                .batchSize(BATCH)
                .threads(threads - 1) // the consumer gathers too, while it waits
                .build();
    }

    /** Images a second, and the processor time for each. */
    private record Rate(double imagesPerSecond, double processorMs) {
        /** Counts from the moment when both clocks were read. */
        static Rate of(long images, long beginNs, long beginProcessorNs) {
            double ns = System.nanoTime() - beginNs;
            return new Rate(images * 1e9 / ns, (ProcessorClock.ns() - beginProcessorNs) / 1e6 / images);
        }
    }

    /** Makes whole epochs. */
    private Rate loaded(Loader loader) {
        long processor = ProcessorClock.ns();
        long begin = System.nanoTime();
        long count = 0;
        for (long epoch = 0; System.nanoTime() - begin < windowNs; epoch++) {
            for (Batch batch : loader.epoch(epoch)) {
                sum += 1 + batch.array(0).buffer().getByte(0);
                count += batch.size();
                decoder = batch.stateAfter().decoder();
            }
        }
        return Rate.of(count, begin, processor);
    }

    private Rate decoded() throws InterruptedException {
        AtomicLong next = new AtomicLong();
        List<Thread> running = new ArrayList<>();
        long processor = ProcessorClock.ns();
        long begin = System.nanoTime();
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> decode(next, begin));
            thread.start();
            running.add(thread);
        }
        for (Thread thread : running) {
            thread.join();
        }
        return Rate.of(next.get(), begin, processor);
    }

    private void decode(AtomicLong next, long begin) {
        Turbo library = Turbo.LIBRARY;
        Pointer handle = library.tjInitDecompress();
        try (Memory header = new Memory(HEADER_BYTES);
                Memory pixels = new Memory(4L << 20);
                Memory file = new Memory(4L << 20)) {
            while (System.nanoTime() - begin < windowNs) {
                DirectBuffer bytes = files.row(next.getAndIncrement() % files.rows());
                bytes.getBytes(0, file.getByteBuffer(0, bytes.capacity()), bytes.capacity());
                long at = Pointer.nativeValue(header);
                int length = bytes.capacity();
                int read = library.tjDecompressHeader3(
                        handle, file, length, header, new Pointer(at + 4), new Pointer(at + 8), new Pointer(at + 12));
                int made = library.tjDecompress2(
                        handle,
                        file,
                        length,
                        pixels,
                        header.getInt(0),
                        0,
                        header.getInt(4),
                        Turbo.RGBX,
                        Turbo.ACCURATE);
                if (read != 0 || made != 0) {
                    throw new IllegalStateException("cannot decode");
                }
            }
        } finally {
            int unused = library.tjDestroy(handle);
        }
    }

    private record Row(
            String what, int threads, List<Double> imagesPerSecond, List<Double> processorMs, String decoder) {}

    private void print(String what, List<Rate> rates) {
        List<Double> images = rates.stream().map(Rate::imagesPerSecond).toList();
        Rows.print(new Row(
                what, threads, images, rates.stream().map(Rate::processorMs).toList(), decoder));
    }

    /** The functions of libjpeg-turbo, bound here again: the peer does not use our own code. */
    public interface Turbo extends Library {
        /** The library itself. */
        Turbo LIBRARY = Native.load(System.getProperty("larder.turbojpeg", "libturbojpeg.so.0"), Turbo.class);

        /** Four bytes a pixel. */
        int RGBX = 2;

        /** The method that Pillow uses. */
        int ACCURATE = 4096;

        /** Returns a handle. */
        Pointer tjInitDecompress();

        /** Reads an image's header. */
        int tjDecompressHeader3(
                Pointer handle,
                Pointer jpeg,
                long length,
                Pointer width,
                Pointer height,
                Pointer kind,
                Pointer colours);

        /** Decodes an image. */
        @SuppressWarnings("checkstyle:ParameterNumber") // the library's
        int tjDecompress2(
                Pointer handle,
                Pointer jpeg,
                long length,
                Pointer pixels,
                int width,
                int pitch,
                int height,
                int kind,
                int flags);

        /** Releases a handle. */
        int tjDestroy(Pointer handle);
    }
}
