package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.BuildTurn;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Retention;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Clients that ask again and again, each with a short deadline, while one build takes long. */
class ExpiredWaitsTest {
    private static final int WAITS = 200;
    private static final int FEW = 5;
    private static final Duration SHORT = Duration.ofMillis(1);

    private ServedStore served;
    private Larder larder;
    private DatasetBuilder builder;

    @BeforeEach
    void build() {
        served = ServedStore.create();
        served.start();
        larder = Larder.connect(served.root());
        builder = larder.build("d");
    }

    @AfterEach
    void close() {
        builder.close();
        larder.close();
        served.close();
    }

    @Test
    void waitsForWhatIsBuiltLeaveNothingBehind() {
        requireForgotten(() -> served.control().await("d", SHORT, progress -> {}));
    }

    @Test
    void waitsForWhatNobodyLoadsLeaveNothingBehind() {
        requireForgotten(() -> served.control().awaitEvenIfUnknown("unknown", SHORT, progress -> {}));
    }

    @Test
    void waitsForATurnToBuildLeaveNothingBehind() {
        Request.Create request = new Request.Create("d", SHORT, 0, false, Retention.NORMAL);

        requireForgotten(() -> served.control().create(request, progress -> {}));
    }

    @Test
    void whoHasNoTimeToWaitGetsATurnThatIsFreeAndNoOther() {
        for (int i = 0; i < FEW; i++) {
            String name = "free" + i;
            Request.Create request = new Request.Create(name, Duration.ZERO, 0, false, Retention.NORMAL);

            try (BuildTurn turn =
                    served.control().create(request, progress -> {}).orElseThrow()) {
                assertThatThrownBy(() -> served.control().create(request, progress -> {}))
                        .isInstanceOf(LarderException.class)
                        .hasMessageStartingWith(
                                "another process is still building the dataset: dataset=" + name + " timeoutMs=0; ");
                assertThat(turn).isNotNull();
            }
        }
    }

    @Test
    void aWaitThatALongLoadAnswersBeforeItsDeadlineLeavesNothingBehind() throws InterruptedException {
        Duration later = Duration.ofMinutes(10);
        Thread[] waiting = new Thread[WAITS];
        for (int i = 0; i < WAITS; i++) {
            waiting[i] = new Thread(() -> ended(() -> served.control().await("d", later, progress -> {})));
            waiting[i].start();
        }
        Awaitility.await().until(() -> instances("dev.larder.server.control.Connection") >= WAITS);
        builder.close();

        for (Thread thread : waiting) {
            thread.join(TimeUnit.MINUTES.toMillis(1));
            assertThat(thread.isAlive()).isFalse();
        }
        requireFewConnections();
    }

    private static void ended(Runnable wait) {
        try {
            wait.run();
        } catch (LarderException given) {
            assertThat(given.code()).isNotEqualTo(ErrorCode.DEADLINE);
        }
    }

    private void requireForgotten(ThrowingCallable wait) {
        for (int i = 0; i < WAITS; i++) {
            assertThatThrownBy(wait)
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE));
        }
        requireFewConnections();
    }

    private static void requireFewConnections() {
        Awaitility.await()
                .untilAsserted(() -> assertThat(instances("dev.larder.server.control.Connection"))
                        .isLessThan(FEW));
    }

    /** Counts what can still be reached, after a collection of garbage. */
    private static long instances(String type) throws Exception {
        Object histogram = ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {new String[0]},
                        new String[] {String[].class.getName()});
        return String.valueOf(histogram)
                .lines()
                .filter(line -> line.matches(".*\\s" + type.replace(".", "\\.") + "(\\s.*)?"))
                .mapToLong(line -> Long.parseLong(line.trim().split("\\s+", -1)[1]))
                .sum();
    }
}
