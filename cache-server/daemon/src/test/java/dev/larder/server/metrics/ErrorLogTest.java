package dev.larder.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class ErrorLogTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final ErrorLog log = new ErrorLog(Clock.fixed(NOON, ZoneOffset.UTC), 3);

    @Test
    void errorsFromOnePlaceAreOneEntryWithTheNewestMessage() {
        for (int i = 0; i < 5; i++) {
            log.record(new IllegalStateException("value=" + i));
        }

        assertThat(log.entries()).singleElement().satisfies(entry -> {
            assertThat(entry.count()).isEqualTo(5);
            assertThat(entry.message()).endsWith("value=4");
            assertThat(entry.stackTrace()).contains("value=0").contains("ErrorLogTest");
            assertThat(entry.first()).isEqualTo(NOON);
        });
    }

    @Test
    void errorsOfAnotherClassOrFromAnotherPlaceAreEntriesOfTheirOwn() {
        log.record(new IllegalStateException("x"));
        log.record(new IllegalArgumentException("x"));
        log.record(elsewhere());

        assertThat(log.entries()).hasSize(3);
    }

    @Test
    void theKindSeenLongestAgoMakesRoom() {
        List<Throwable> errors = List.of(
                new IllegalStateException("oldest"),
                new IllegalArgumentException("seen again"),
                new ArithmeticException(),
                new ArrayStoreException("newest"));

        errors.subList(0, 3).forEach(log::record);
        log.record(errors.get(1));
        log.record(errors.get(3));

        assertThat(log.entries())
                .extracting(ErrorLog.Entry::message)
                .containsExactly(
                        "java.lang.ArithmeticException",
                        "java.lang.IllegalArgumentException: seen again",
                        "java.lang.ArrayStoreException: newest");
    }

    @Test
    void failedLoadsAreNotedAndCancelledOnesAreNot() {
        for (ErrorCode code : List.of(ErrorCode.BAD_INPUT, ErrorCode.INTERRUPTED, ErrorCode.NO_DAEMON)) {
            log.recordUnlessCancelled("d", Failure.of(code, "load failed").exception());
        }
        log.recordUnlessCancelled("d", new IllegalStateException("bug"));

        assertThat(log.entries())
                .extracting(ErrorLog.Entry::message)
                .satisfiesExactly(
                        first -> assertThat(first).contains("load failed"),
                        second -> assertThat(second).contains("bug"));
    }

    private static Throwable elsewhere() {
        return new IllegalStateException("x");
    }
}
