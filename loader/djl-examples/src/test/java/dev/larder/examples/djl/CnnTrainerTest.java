package dev.larder.examples.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.testing.ChildJvm;
import dev.larder.testing.FashionMnist;
import dev.larder.testing.StoreFixture;
import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A part of Fashion-MNIST and one epoch: enough to see that it learns. {@code ops/demo --djl} does all of it. */
class CnnTrainerTest {
    private static final Pattern ACCURACY = Pattern.compile("\"testAccuracy\":([0-9.]+)");
    private static final int TRAINED = 12_000;
    private static final int TESTED = 2000;

    @Tag("slow")
    @Test
    @EnabledIfSystemProperty(named = "os.arch", matches = "amd64")
    void twoProcessesLearnAtOnceFromOneCopy() throws IOException {
        try (StoreFixture store = FashionMnist.store(TRAINED, TESTED);
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
                "--batch-size",
                "64",
                "--seed",
                seed);
    }

    private static double accuracy(ChildJvm trainer) {
        Matcher matcher = ACCURACY.matcher(trainer.awaitLine("{"));
        assertThat(matcher.find()).isTrue();
        return Double.parseDouble(matcher.group(1));
    }
}
