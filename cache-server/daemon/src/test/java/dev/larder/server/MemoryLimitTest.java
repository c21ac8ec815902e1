package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.LimitedGroup;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Daemons in a real control group that limits their memory to less than the mount has. */
@Timeout(300)
class MemoryLimitTest {
    private static final long MIB = 1L << 20;
    private static final long LIMIT = 700 * MIB;
    private static final String ANY_CAPACITY = Long.toString(ServedStore.ANY_CAPACITY);

    @TempDir
    Path sources;

    private LimitedGroup limited;
    private ServedStore served;

    @BeforeEach
    void create() {
        ServedStore.requireInMemory();
        limited = LimitedGroup.of(LIMIT);
        served = ServedStore.create();
    }

    @AfterEach
    void close() {
        if (limited != null) { // else the test is skipped
            served.close();
            limited.close();
        }
    }

    @Test
    void theCapacityIsAShareOfWhatTheGroupLeaves() {
        served.startProcessIn(limited);

        assertThat(served.control().status().capacityBytes())
                .isLessThan(LIMIT * 8 / 10)
                .isGreaterThan(LIMIT / 3);
    }

    @Test
    void whatTheGroupDoesNotAllowIsRefusedBeforeItIsWritten() {
        ChildJvm daemon = served.startProcessIn(limited, ANY_CAPACITY);

        assertIsFull(ServedStore.writeHole(sources.resolve("a.npy"), 2 * LIMIT));

        assertThat(daemon.isAlive()).isTrue();
        assertThat(served.control().status().usedBytes()).isZero();
    }

    @Tag("slow")
    @Test
    void aGroupThatIsFilledStepByStepEndsInARefusalAndNotWithTheDaemon() {
        ChildJvm daemon = served.startProcessIn(limited, ANY_CAPACITY);
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), 40 * MIB);
        for (int i = 0; i < 5; i++) {
            served.load("d" + i, source);
            served.control().pin("d" + i);
        }

        for (int i = 5; i < 30; i++) {
            loadOrBeFull("d" + i, source);
        }

        assertIsFull(source);
        assertThat(daemon.isAlive()).isTrue();
        assertThat(served.control().verify("", progress -> {}).files()).isGreaterThanOrEqualTo(5);
        assertThat(limited.group().kills().orElse(0)).isZero();
    }

    private void loadOrBeFull(String name, Path source) {
        try {
            served.load(name, source);
            served.control().pin(name);
        } catch (LarderException e) {
            assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE);
        }
    }

    private void assertIsFull(Path source) {
        assertThatThrownBy(() -> served.load("full", source))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                .hasMessageContaining("not enough space: needed=");
    }
}
