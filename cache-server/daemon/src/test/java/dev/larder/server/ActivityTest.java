package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Response;
import dev.larder.server.control.Peer;
import dev.larder.server.control.Reply;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ActivityTest {
    private final Counters counters = Counters.unshared();
    private long now;
    private final Activity activity = new Activity(counters, () -> now);
    private final Client client = new Client();

    /** A client that only leaves when told to. */
    private static final class Client implements Reply {
        private final List<Runnable> onDisconnect = new ArrayList<>();

        void leave() {
            onDisconnect.forEach(Runnable::run);
        }

        @Override
        public Peer peer() {
            return new Peer(1, 0, "root", true);
        }

        @Override
        public void progress(Progress progress) {}

        @Override
        public void answer(Response response) {}

        @Override
        public void problem(Throwable failure) {}

        @Override
        public void onEnd(Runnable action) {
            onDisconnect.add(action);
        }

        @Override
        public void onDisconnect(Runnable action) {
            onDisconnect.add(action);
        }

        @Override
        public void onSent(Runnable action) {
            onDisconnect.add(action);
        }

        @Override
        public Session session() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isConnected() {
            return true;
        }
    }

    private void ask(boolean isResident, Consumer<Reply> end) {
        activity.ask(isResident, client, reply -> {
            assertThat(activity.isUnderWay()).isTrue();
            assertThat(counters.value(Counter.WAITING)).isEqualTo(1);
            now += Duration.ofMillis(300).toNanos();
            end.accept(reply);
        });
        assertThat(counters.value(Counter.WAITING)).isZero();
    }

    @Test
    void whatWasResidentIsAHitWithoutAWait() {
        ask(true, reply -> reply.done(Done.NOTHING));

        assertThat(counters.value(Counter.ASK_HITS)).isEqualTo(1);
        assertThat(counters.value(Counter.WAIT_MICROS)).isZero();
        assertThat(activity.isUnderWay()).isFalse();
    }

    @Test
    void whatHadToBeWaitedForIsAMissWithItsTime() {
        ask(false, reply -> reply.done(Done.NOTHING));

        assertThat(counters.value(Counter.ASK_MISSES)).isEqualTo(1);
        assertThat(counters.value(Counter.WAIT_MICROS)).isEqualTo(300_000);
        assertThat(counters.value(Counter.WAITS_TO_1_S)).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"NOT_FOUND,ASKS_UNKNOWN", "DEADLINE,ASKS_LATE", "REFUSED,ASKS_FAILED", "NO_SPACE,SPACE_REFUSALS"})
    void failuresAreToldApart(ErrorCode code, Counter counter) {
        ask(false, reply -> reply.problem(Failure.of(code, "no").exception()));

        assertThat(counters.value(counter)).isEqualTo(1);
    }

    @Test
    void aTurnToBuildIsAMiss() {
        ask(true, reply -> reply.answer(new Build("folder", null)));
        assertThat(activity.isUnderWay()).isFalse();

        client.leave();

        assertThat(counters.value(Counter.ASK_MISSES)).isEqualTo(1);
        assertThat(counters.value(Counter.ASKS_LEFT)).isZero();
    }

    @Test
    void aClientThatLeavesIsCountedOnceAndNothingAfterIt() {
        ask(false, reply -> {
            client.leave();
            reply.done(Done.NOTHING);
        });

        assertThat(counters.value(Counter.ASKS_LEFT)).isEqualTo(1);
        assertThat(counters.value(Counter.ASK_MISSES)).isZero();
        assertThat(activity.isUnderWay()).isFalse();
    }

    @Test
    void aRequestThatFailsAtOnceIsNotUnderWayForEver() {
        assertThatThrownBy(() -> activity.use(client, reply -> {
                    throw new IllegalStateException("broken");
                }))
                .hasMessage("broken");

        assertThat(activity.isUnderWay()).isFalse();
        assertThat(activity.begun()).isEqualTo(1);
    }
}
