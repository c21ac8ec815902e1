package dev.larder.server.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class UserNamesTest {
    private static final long LONG_MS = 50_000;

    @Test
    void aNameIsLookedUpOnce() {
        UserNames names = new UserNames(LONG_MS);
        AtomicInteger lookups = new AtomicInteger();

        String first = names.of(7, () -> "ada" + lookups.incrementAndGet());
        String second = names.of(7, () -> "ada" + lookups.incrementAndGet());

        assertThat(first).isEqualTo("ada1");
        assertThat(second).isEqualTo("ada1");
    }

    @Test
    void aLookupThatHangsYieldsTheNumberUntilItEnds() {
        UserNames names = new UserNames(1);
        CountDownLatch directoryAnswers = new CountDownLatch(1);

        String whileHanging = names.of(7, () -> {
            directoryAnswers.await();
            return "ada";
        });
        directoryAnswers.countDown();

        assertThat(whileHanging).isEqualTo("7");
        await().until(() -> names.of(7, () -> "another").equals("ada"));
    }

    @Test
    void aLookupThatFailsIsTriedAgain() {
        UserNames names = new UserNames(LONG_MS);

        String failed = names.of(7, () -> {
            throw new IOException("closed");
        });

        assertThat(failed).isEqualTo("7");
        assertThat(names.of(7, () -> "ada")).isEqualTo("ada");
    }
}
