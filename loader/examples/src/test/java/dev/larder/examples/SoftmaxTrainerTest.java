package dev.larder.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SoftmaxTrainerTest {
    private static final int SIDE = 6;

    @TempDir
    Path folder;

    private final ByteArrayOutputStream output = new ByteArrayOutputStream();

    @Test
    void learnsWhatCanBeLearned() throws IOException {
        try (StoreFixture store = drawings()) {
            SoftmaxTrainer.Result result =
                    train(store, "--epochs", "8", "--learning-rate", "0.1", "--batch-size", "64");

            assertThat(result.tested().accuracy()).isGreaterThan(0.95);
            assertThat(result.tested().loss()).isLessThan(0.5);
            assertThat(result.version()).isEqualTo(1);
        }
    }

    @Test
    void sameSeedLearnsTheSameAndAnotherSomethingElse() throws IOException {
        try (StoreFixture store = drawings()) {
            double loss = train(store, "--seed", "1", "--epochs", "2").tested().loss();

            assertThat(train(store, "--seed", "1", "--epochs", "2").tested().loss())
                    .isEqualTo(loss);
            assertThat(train(store, "--seed", "2", "--epochs", "2").tested().loss())
                    .isNotEqualTo(loss);
        }
    }

    @Test
    void printsALinePerEpochAndTheResultAsJson() throws IOException {
        Path file = folder.resolve("result.json");
        try (StoreFixture store = drawings()) {
            train(store, "--label", "lr=0.1", "--epochs", "2", "--json-result", file.toString());
        }

        List<String> lines = output.toString(StandardCharsets.UTF_8).lines().toList();
        assertThat(lines).hasSize(3);
        assertThat(lines.get(0)).startsWith("lr=0.1: epoch=1 loss=").contains(" testAccuracy=");
        assertThat(lines.get(2)).startsWith("{\"label\":\"lr=0.1\",\"dataset\":\"drawings\",\"version\":1,");
        assertThat(file).hasContent(lines.get(2));
    }

    @Test
    void holdsTheDatasetUntilItsInputEnds() throws IOException {
        Path maps = Path.of("/proc/self/maps");
        try (StoreFixture store = drawings()) {
            InputStream lookingAtTheMaps = new ByteArrayInputStream(new byte[0]) {
                @Override
                public synchronized long transferTo(OutputStream target) throws IOException {
                    assertThat(Files.readString(maps)).contains(store.store() + "/data/drawings/1/train-images.npy");
                    return 0;
                }
            };

            trainer(store, "--epochs", "1", "--hold-until-stdin-closes").run(lookingAtTheMaps);

            assertThat(Files.readString(maps)).doesNotContain(store.store().toString());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"--nonsense 1", "--epochs", "--epochs x", "--epochs 0", "--learning-rate -1", "--label a\"b"})
    void commandLineThatMakesNoSenseIsRefused(String line) {
        assertThatThrownBy(() -> TrainerOptions.parse(List.of(line.split(" "))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private SoftmaxTrainer.Result train(StoreFixture store, String... options) throws IOException {
        return trainer(store, options).run(InputStream.nullInputStream());
    }

    private SoftmaxTrainer trainer(StoreFixture store, String... options) {
        List<String> line = new ArrayList<>(List.of("--store", store.store().toString(), "--dataset", "drawings"));
        line.addAll(List.of(options));
        return new SoftmaxTrainer(TrainerOptions.parse(line), new PrintStream(output, true, StandardCharsets.UTF_8));
    }

    /** Publishes noisy pictures, each class bright in pixels of its own. */
    private static StoreFixture drawings() {
        StoreFixture store = StoreFixture.create();
        Random random = new Random(1);
        byte[] trainLabels = labels(random, 2000);
        byte[] testLabels = labels(random, 300);
        store.publish(
                "drawings",
                Map.of(
                        "train-images", images(random, trainLabels),
                        "train-labels", FixtureArray.bytes(trainLabels, trainLabels.length),
                        "t10k-images", images(random, testLabels),
                        "t10k-labels", FixtureArray.bytes(testLabels, testLabels.length)));
        return store;
    }

    private static byte[] labels(Random random, int count) {
        byte[] labels = new byte[count];
        for (int i = 0; i < count; i++) {
            labels[i] = (byte) random.nextInt(10);
        }
        return labels;
    }

    private static FixtureArray images(Random random, byte[] labels) {
        byte[] images = new byte[labels.length * SIDE * SIDE];
        for (int i = 0; i < images.length; i++) {
            int pixel = i % (SIDE * SIDE);
            boolean bright = pixel % 10 == labels[i / (SIDE * SIDE)];
            images[i] = (byte) (random.nextInt(120) + (bright ? 100 : 0));
        }
        return FixtureArray.bytes(images, labels.length, SIDE, SIDE);
    }
}
