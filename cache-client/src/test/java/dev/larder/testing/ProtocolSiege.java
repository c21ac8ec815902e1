package dev.larder.testing;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.protocol.ArrayRow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Several attackers on one daemon, and one client with manners that must be served meanwhile: it asks for totals, opens and reads a
 * dataset, and forgets what the attackers happened to load.
 */
public final class ProtocolSiege {
    /** The dataset that stays; its first array holds one byte of this value at the start. */
    public static final String STEADY = "steady";

    private static final int ATTACKERS = 2;
    private static final long PAUSE_MS = 20;
    private static final int REQUESTS_PER_SWEEP = 50;

    private final Path store;
    private final ControlClient control;
    private final List<ProtocolAttack> attacks = new ArrayList<>();
    private final List<Long> steadyNs = new ArrayList<>();
    private final long frames;
    private @Nullable Exception steadyFailure;

    /** Prepares the siege of a daemon that has a dataset {@link #STEADY}. */
    public ProtocolSiege(Path store, Path source, long seed, long frames) {
        this.store = store;
        this.control = ControlClient.at(store);
        this.frames = frames;
        for (int attacker = 0; attacker < ATTACKERS; attacker++) {
            attacks.add(new ProtocolAttack(store, source, seed * ATTACKERS + attacker, frames / ATTACKERS));
        }
    }

    /** What came of it; times in milliseconds. */
    public record Outcome(
            long frames,
            long refused,
            long answered,
            long cutShort,
            double seconds,
            long served,
            double p99Ms,
            double maxMs) {
        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "frames=%d refused=%d answered=%d cutShort=%d seconds=%.1f framesPerSecond=%.0f steady: served=%d p99Ms=%.1f maxMs=%.1f",
                    frames,
                    refused,
                    answered,
                    cutShort,
                    seconds,
                    frames / seconds,
                    served,
                    p99Ms,
                    maxMs);
        }
    }

    /** Runs until all frames are sent, and fails where one of them, or the client with manners, was not served. */
    public Outcome run() throws IOException, InterruptedException {
        long startNs = System.nanoTime();
        List<Thread> threads = attacks.stream().map(ProtocolSiege::start).toList();
        Thread steady = start(this::serveSteadily);
        while (threads.stream().anyMatch(Thread::isAlive)) {
            threads.get(0).join(100);
            threads.get(threads.size() - 1).join(100);
            for (ProtocolAttack attack : attacks) {
                attack.interruptIfStuck();
            }
        }
        double seconds = (System.nanoTime() - startNs) / 1e9;
        steady.interrupt();
        steady.join();
        for (ProtocolAttack attack : attacks) {
            AssertionError failure = attack.failure();
            if (failure != null) {
                throw failure;
            }
        }
        if (steadyFailure != null) {
            throw new AssertionError("a client with manners was not served", steadyFailure);
        }
        forgetAllBut(Set.of(STEADY));
        return outcome(seconds);
    }

    private static Thread start(Runnable task) {
        Thread thread = new Thread(task, "siege");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void serveSteadily() {
        try (Larder larder = Larder.connect(store)) {
            while (!Thread.currentThread().isInterrupted()) {
                long startNs = System.nanoTime();
                control.status();
                try (Dataset dataset = larder.dataset(STEADY)) {
                    dataset.array(dataset.arrayNames().get(0)).getLong(0);
                }
                steadyNs.add(System.nanoTime() - startNs);
                if (steadyNs.size() % REQUESTS_PER_SWEEP == 0) {
                    forgetAllBut(Set.of(STEADY));
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            }
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            if (!Thread.currentThread().isInterrupted()) {
                steadyFailure = e;
            }
        }
    }

    private void forgetAllBut(Set<String> kept) {
        Set<String> datasets = control.list("", false).stream()
                .map(ArrayRow::name)
                .map(name -> name.indexOf('/') < 0 ? name : name.substring(0, name.indexOf('/')))
                .collect(Collectors.toSet());
        datasets.removeAll(kept);
        for (String dataset : datasets) {
            try {
                control.unpin(dataset);
                control.forget(dataset);
            } catch (LarderException goneOrBeingLoaded) {
                if (Thread.currentThread().isInterrupted()) {
                    return;
                }
            }
        }
    }

    private Outcome outcome(double seconds) {
        long[] sorted = steadyNs.stream().mapToLong(Long::longValue).sorted().toArray();
        double p99 = sorted.length == 0 ? 0 : sorted[sorted.length * 99 / 100] / 1e6;
        double max = sorted.length == 0 ? 0 : sorted[sorted.length - 1] / 1e6;
        return new Outcome(
                frames,
                attacks.stream().mapToLong(attack -> attack.tally().refused()).sum(),
                attacks.stream().mapToLong(attack -> attack.tally().answered()).sum(),
                attacks.stream().mapToLong(attack -> attack.tally().cutShort()).sum(),
                seconds,
                steadyNs.size(),
                p99,
                max);
    }
}
