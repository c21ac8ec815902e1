package dev.larder.examples.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.examples.opencl.MlpTrainer.Result;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class MlpTrainerTest {
    private static final Path FASHION_MNIST = Path.of("/usr/share/datasets/fashion-mnist");

    @TempDir
    Path folder;

    private final ByteArrayOutputStream output = new ByteArrayOutputStream();

    @BeforeEach
    void needsTheDataset() {
        assumeTrue(Files.isDirectory(FASHION_MNIST), "dataset-fashion-mnist is not installed");
    }

    @Test
    void oneEpochIsEnoughForMoreThan83PercentOfAllTestImages() throws IOException {
        Path file = folder.resolve("result.json");
        try (StoreFixture store = fashion(60_000, 10_000)) {
            Result result = train(store, "--epochs", "1", "--label", "one", "--json-result", file.toString());

            assertThat(result.tested().accuracy()).isGreaterThan(0.83);
            assertThat(result.tested().loss()).isLessThan(0.5);
        }
        List<String> lines = output.toString(StandardCharsets.UTF_8).lines().toList();
        assertThat(lines).hasSize(2);
        assertThat(lines.get(0))
                .startsWith("one: epoch=1 loss=")
                .contains(" testAccuracy=", " uploadedBytes=", " mode=");
        assertThat(lines.get(1)).startsWith("{\"label\":\"one\",\"dataset\":\"fashion-mnist\",");
        assertThat(file).hasContent(lines.get(1));
    }

    @Test
    void aSeedAlwaysLearnsTheSameHoweverRowsGetThere() throws IOException {
        try (StoreFixture store = fashion(3000, 500)) {
            Result result = train(store, "--mode", "stream", "--epochs", "2", "--seed", "1");

            assertThat(result.mode()).isEqualTo("STREAM");
            for (String mode : List.of("stream", "resident")) {
                Result again = train(store, "--mode", mode, "--epochs", "2", "--seed", "1");
                assertThat(again.trained()).isEqualTo(result.trained());
                assertThat(again.tested()).isEqualTo(result.tested());
            }
            assertThat(train(store, "--seed", "2", "--epochs", "2").tested()).isNotEqualTo(result.tested());
        }
    }

    @Test
    void aDeviceThatIsNotThereIsNotFound() throws IOException {
        try (StoreFixture store = fashion(10, 10)) {
            assertThatThrownBy(() -> train(store, "--device", "abacus"))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                    .hasMessageContaining("abacus");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--nonsense 1", "--epochs", "--epochs x", "--epochs 0", "--mode fast", "--label a\"b"})
    void commandLineThatMakesNoSenseIsRefused(String line) {
        assertThatThrownBy(() -> MlpOptions.parse(List.of(line.split(" "))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private Result train(StoreFixture store, String... options) throws IOException {
        List<String> line = new ArrayList<>(List.of("--store", store.store().toString()));
        line.addAll(List.of(options));
        return new MlpTrainer(MlpOptions.parse(line), new PrintStream(output, true, StandardCharsets.UTF_8)).run();
    }

    private static StoreFixture fashion(int trained, int tested) throws IOException {
        Map<String, FixtureArray> arrays = Map.of(
                "train-images", images("train-images-idx3-ubyte.gz", trained),
                "train-labels", FixtureArray.bytes(bytes("train-labels-idx1-ubyte.gz", 8, trained), trained),
                "t10k-images", images("t10k-images-idx3-ubyte.gz", tested),
                "t10k-labels", FixtureArray.bytes(bytes("t10k-labels-idx1-ubyte.gz", 8, tested), tested));
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
