package dev.larder.examples.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.testing.ChildJvm;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A part of Fashion-MNIST and one epoch: enough to see that it learns. {@code ops/demo --djl} does all of it. */
class CnnTrainerTest {
    private static final Path FASHION_MNIST = Path.of("/usr/share/datasets/fashion-mnist");
    private static final Pattern ACCURACY = Pattern.compile("\"testAccuracy\":([0-9.]+)");
    private static final int TRAINED = 12_000;
    private static final int TESTED = 2000;

    @Test
    @EnabledIfSystemProperty(named = "os.arch", matches = "amd64")
    void twoProcessesLearnAtOnceFromOneCopy() throws IOException {
        assumeTrue(Files.isDirectory(FASHION_MNIST), "dataset-fashion-mnist is not installed");
        try (StoreFixture store = fashion();
                ChildJvm one = trainer(store, "1");
                ChildJvm other = trainer(store, "2")) {
            double first = accuracy(one);
            double second = accuracy(other);

            assertThat(first).isGreaterThan(0.6);
            assertThat(second).isGreaterThan(0.6).isNotEqualTo(first);
            assertThat(one.awaitExit()).isZero();
            assertThat(other.awaitExit()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--nonsense 1", "--epochs", "--epochs x", "--epochs 0", "--label a\"b"})
    void commandLineThatMakesNoSenseIsRefused(String line) {
        assertThatThrownBy(() -> CnnOptions.parse(List.of(line.split(" "))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static ChildJvm trainer(StoreFixture store, String seed) {
        return ChildJvm.start(
                System.getProperty("java.class.path"),
                List.of(
                        "-Dai.djl.offline=true",
                        "-DDJL_CACHE_DIR=" + System.getProperty("DJL_CACHE_DIR"),
                        "-Dai.djl.pytorch.num_threads=1"),
                CnnTrainer.class.getName(),
                "--store",
                store.store().toString(),
                "--epochs",
                "1",
                "--batch",
                "64",
                "--seed",
                seed);
    }

    private static double accuracy(ChildJvm trainer) {
        Matcher matcher = ACCURACY.matcher(trainer.awaitLine("{"));
        assertThat(matcher.find()).isTrue();
        return Double.parseDouble(matcher.group(1));
    }

    private static StoreFixture fashion() throws IOException {
        Map<String, FixtureArray> arrays = Map.of(
                "train-images", images("train-images-idx3-ubyte.gz", TRAINED),
                "train-labels", FixtureArray.bytes(bytes("train-labels-idx1-ubyte.gz", 8, TRAINED), TRAINED),
                "t10k-images", images("t10k-images-idx3-ubyte.gz", TESTED),
                "t10k-labels", FixtureArray.bytes(bytes("t10k-labels-idx1-ubyte.gz", 8, TESTED), TESTED));
        StoreFixture store = StoreFixture.create();
        store.publish("fashion-mnist", arrays);
        return store;
    }

    private static FixtureArray images(String file, int count) throws IOException {
        return FixtureArray.bytes(bytes(file, 16, count * 784), count, 28, 28);
    }

    private static byte[] bytes(String file, int header, int length) throws IOException {
        try (InputStream in = new GZIPInputStream(Files.newInputStream(FASHION_MNIST.resolve(file)))) {
            in.skipNBytes(header);
            return in.readNBytes(length);
        }
    }
}
