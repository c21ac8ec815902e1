package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With a daemon that listens and says nothing, as one does that was stopped by a signal. */
class DaemonWaitTest {
    private static final Duration TIMEOUT = Duration.ofMillis(50);
    private static final Duration FAR_BELOW_THE_LONGEST_SILENCE = Duration.ofSeconds(6);

    private StoreFixture fixture;
    private ServerSocketChannel daemon;

    @BeforeEach
    void listen() throws IOException {
        fixture = StoreFixture.create();
        fixture.publish("d", Map.of("a", FixtureArray.ints(new int[] {1}, 1)));
        daemon = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        daemon.bind(UnixDomainSocketAddress.of(fixture.layout().socket()));
    }

    @AfterEach
    void close() throws IOException {
        daemon.close();
        fixture.close();
    }

    @Test
    void connectingEndsAtTheTimeoutOfTheCaller() {
        assertEndsSoon(() -> Larder.connect(fixture.store(), TIMEOUT));
    }

    @Test
    void waitingForADatasetEndsAtTheTimeoutOfTheCaller() {
        try (Larder larder = Larder.connect(fixture.store())) {
            assertEndsSoon(() -> larder.dataset("missing", TIMEOUT));
        }
    }

    private static void assertEndsSoon(ThrowingCallable call) {
        long start = System.nanoTime();
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(FAR_BELOW_THE_LONGEST_SILENCE);
    }
}
