package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.nio.file.Path;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Versions under live readers, by number and by digest. */
class VersionsTest {
    @TempDir
    Path sources;

    private final ServedStore served = ServedStore.create();

    @BeforeEach
    void start() {
        served.start();
        load(1);
    }

    @AfterEach
    void close() {
        served.close();
    }

    private void load(int value) {
        served.load("d", ServedStore.writeInts(sources.resolve("d.npy"), value));
    }

    private static int value(Dataset dataset) {
        return dataset.array("d").getInt(0);
    }

    @Test
    void aVersionThatSomebodyReadsIsFoundByNumberAndDigestAfterItWasReplaced() {
        try (Larder larder = Larder.connect(served.root());
                Dataset first = larder.dataset("d")) {
            load(2);
            try (Dataset newest = larder.dataset("d");
                    Dataset byNumber = larder.dataset("d", 1);
                    Dataset byDigest =
                            larder.datasetWithDigest("d", first.digest().substring(0, 8))) {
                assertThat(value(newest)).isEqualTo(2);
                assertThat(value(byNumber)).isEqualTo(1);
                assertThat(value(byDigest)).isEqualTo(1);
                assertThat(byDigest.version()).isEqualTo(1);
            }
        }
        Awaitility.await().until(() -> served.control().list("", true).stream().noneMatch(row -> row.version() == 1));
    }

    @Test
    void aVersionThatIsNotThereIsRefusedWithThoseThatAre() {
        try (Larder larder = Larder.connect(served.root())) {
            assertThatThrownBy(() -> larder.dataset("d", 7))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                    .hasMessageContaining("no such version: dataset=d version=7 versions=[1]");
            assertThatThrownBy(() -> larder.datasetWithDigest("d", "00000000"))
                    .hasMessageContaining("no such version: dataset=d digest=00000000");
            assertThatThrownBy(() -> larder.datasetWithDigest("d", "../../etc"))
                    .hasMessageContaining("not a digest or its beginning");
        }
    }

    @Test
    void aVersionThatWasEvictedComesBackUnderItsNumber() {
        served.control().evict("d");

        try (Larder larder = Larder.connect(served.root());
                Dataset back = larder.dataset("d", 1)) {
            assertThat(value(back)).isEqualTo(1);
        }
    }
}
