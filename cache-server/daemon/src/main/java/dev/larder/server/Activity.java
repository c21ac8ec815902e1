package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Response;
import dev.larder.server.control.Reply;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.WaitTimes;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Counts the requests that use the daemon now, and the outcomes of requests for a dataset. Thread-safe. */
final class Activity {
    private final Counters counters;
    private final LongSupplier clockNanos;
    private final AtomicLong begun = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();

    Activity(Counters counters, LongSupplier clockNanos) {
        this.counters = counters;
        this.clockNanos = clockNanos;
    }

    /** Returns how many requests have used the daemon so far, including the current ones. */
    long begun() {
        return begun.get();
    }

    /** Returns whether a request is in progress. */
    boolean isUnderWay() {
        return ended.get() < begun.get();
    }

    /** Passes on a request that uses the daemon, with a reply that reports its end. */
    void use(Reply reply, Consumer<Reply> request) {
        start(new WatchedReply(reply, new Use()), request);
    }

    /** Passes on a request for a dataset, and counts its outcome. */
    void ask(boolean isResident, Reply reply, Consumer<Reply> request) {
        counters.increment(Counter.WAITING);
        start(new WatchedReply(reply, new Ask(isResident)), request);
    }

    private static void start(WatchedReply reply, Consumer<Reply> request) {
        try {
            request.accept(reply);
        } catch (RuntimeException | Error failure) {
            reply.abandon(failure);
            throw failure;
        }
    }

    /** A request that uses the daemon. */
    private class Use implements WatchedReply.EndListener {
        Use() {
            begun.incrementAndGet();
        }

        @Override
        public void answered(Response response) {
            ended.incrementAndGet();
        }

        @Override
        public void failed(Throwable failure) {
            ended.incrementAndGet();
            if (codeOf(failure) == ErrorCode.NO_SPACE) {
                counters.increment(Counter.SPACE_REFUSALS);
            }
        }

        @Override
        public void left() {
            ended.incrementAndGet();
        }
    }

    /** A request for a dataset. It ends with the dataset, or with the turn to build it. */
    private final class Ask extends Use {
        private final boolean isResident;
        private final long beginNanos = clockNanos.getAsLong();

        Ask(boolean isResident) {
            this.isResident = isResident;
        }

        @Override
        public void answered(Response response) {
            super.answered(response);
            settle(isResident && response instanceof Done ? Counter.ASK_HITS : Counter.ASK_MISSES);
        }

        @Override
        public void failed(Throwable failure) {
            super.failed(failure);
            settle(
                    switch (codeOf(failure)) {
                        case NOT_FOUND -> Counter.ASKS_UNKNOWN;
                        case DEADLINE -> Counter.ASKS_LATE;
                        default -> Counter.ASKS_FAILED;
                    });
        }

        @Override
        public void left() {
            super.left();
            settle(Counter.ASKS_LEFT);
        }

        private void settle(Counter outcome) {
            counters.add(Counter.WAITING, -1);
            counters.increment(outcome);
            if (outcome != Counter.ASK_HITS) {
                WaitTimes.record(counters, Duration.ofNanos(clockNanos.getAsLong() - beginNanos));
            }
        }
    }

    private static ErrorCode codeOf(Throwable failure) {
        return failure instanceof LarderException known ? known.code() : ErrorCode.UNEXPECTED;
    }
}
