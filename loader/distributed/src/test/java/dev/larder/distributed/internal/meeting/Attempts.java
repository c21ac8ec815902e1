package dev.larder.distributed.internal.meeting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.distributed.rendezvous.Rendezvous;
import dev.larder.distributed.rendezvous.RendezvousResult;
import dev.larder.error.LarderException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Calls to meet that go on side by side, each in a thread of its own. */
final class Attempts {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<CompletableFuture<RendezvousResult>> calls = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    /** Starts one call at an address. */
    Attempts meet(String url, Duration timeout) {
        CompletableFuture<RendezvousResult> call = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        call.complete(Rendezvous.meet(url, timeout));
                    } catch (RuntimeException | Error e) {
                        call.completeExceptionally(e);
                    }
                },
                "meet " + url);
        thread.start();
        calls.add(call);
        threads.add(thread);
        return this;
    }

    /** Starts all ranks of a world at an address that takes rank and world size. */
    Attempts meetAll(String place, int worldSize, Duration timeout) {
        for (int rank = worldSize - 1; rank >= 0; rank--) {
            meet(place + "?rank=" + rank + "&world_size=" + worldSize, timeout);
        }
        return this;
    }

    Attempts interrupt(int call) {
        threads.get(call).interrupt();
        return this;
    }

    /** Waits for one call, which is to succeed. */
    RendezvousResult meeting(int call) {
        try {
            threads.get(call).join(PATIENCE.toMillis());
            assertThat(calls.get(call)).as("call %d", call).isDone();
            return calls.get(call).join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Waits for one call, which is to fail. */
    LarderException failure(int call) {
        try {
            throw new AssertionError("met: " + meeting(call));
        } catch (CompletionException e) {
            if (e.getCause() instanceof LarderException failure) {
                return failure;
            }
            throw e;
        }
    }

    /** Waits until one of two calls has failed. */
    LarderException failureOfAny(int one, int other) {
        await().atMost(PATIENCE)
                .until(() -> calls.get(one).isDone() || calls.get(other).isDone());
        return failure(calls.get(one).isDone() ? one : other);
    }

    /** Waits for all calls and returns their keys, each once. */
    Set<String> keys() {
        Set<String> keys = new LinkedHashSet<>();
        for (int i = 0; i < calls.size(); i++) {
            keys.add(meeting(i).key());
        }
        return keys;
    }
}
