package dev.larder.examples.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.examples.opencl.MlpTrainer.Result;
import dev.larder.testing.FashionMnist;
import dev.larder.testing.StoreFixture;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class MlpTrainerTest {
    @TempDir
    Path folder;

    private final ByteArrayOutputStream output = new ByteArrayOutputStream();

    @Tag("slow")
    @Test
    void oneEpochIsEnoughForMoreThan83PercentOfAllTestImages() throws IOException {
        Path file = folder.resolve("result.json");
        try (StoreFixture store = FashionMnist.store(60_000, 10_000)) {
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

    @Tag("slow")
    @Test
    void aSeedAlwaysLearnsTheSameHoweverRowsGetThere() throws IOException {
        try (StoreFixture store = FashionMnist.store(3000, 500)) {
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
        try (StoreFixture store = FashionMnist.store(10, 10)) {
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
}
