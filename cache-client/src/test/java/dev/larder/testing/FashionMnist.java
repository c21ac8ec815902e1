package dev.larder.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/** Fashion-MNIST as Debian's package dataset-fashion-mnist has it. */
public final class FashionMnist {
    /** Where the package puts it. */
    public static final Path FOLDER = Path.of("/usr/share/datasets/fashion-mnist");

    private static final int SIDE = 28;
    private static final int IMAGES_HEADER_BYTES = 16;
    private static final int LABELS_HEADER_BYTES = 8;

    private FashionMnist() {}

    /** Returns its folder, or skips the test where it is not installed. */
    public static Path folder() {
        assumeTrue(Files.isDirectory(FOLDER), "needs the package dataset-fashion-mnist");
        return FOLDER;
    }

    /** Makes a store with the first so many samples of each half, as {@code fashion-mnist}. */
    public static StoreFixture store(int trained, int tested) {
        Map<String, FixtureArray> arrays = Map.of(
                "train-images", images("train-images-idx3-ubyte.gz", trained),
                "train-labels", labels("train-labels-idx1-ubyte.gz", trained),
                "t10k-images", images("t10k-images-idx3-ubyte.gz", tested),
                "t10k-labels", labels("t10k-labels-idx1-ubyte.gz", tested));
        StoreFixture store = StoreFixture.create();
        store.publish("fashion-mnist", arrays);
        return store;
    }

    private static FixtureArray images(String file, int count) {
        return FixtureArray.bytes(bytes(file, IMAGES_HEADER_BYTES, count * SIDE * SIDE), count, SIDE, SIDE);
    }

    private static FixtureArray labels(String file, int count) {
        return FixtureArray.bytes(bytes(file, LABELS_HEADER_BYTES, count), count);
    }

    private static byte[] bytes(String file, int headerBytes, int length) {
        try (InputStream in = new GZIPInputStream(Files.newInputStream(folder().resolve(file)))) {
            in.skipNBytes(headerBytes);
            return in.readNBytes(length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
