package dev.larder.launch.process;

import dev.larder.launch.process.ExitCause.Ended;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The ranks of one attempt. One thread starts them, waits for their ends, and ends the others if one fails.
 *
 * <p>The first failure is that of the process that died first, not of the first one without descendants: while the descendants of a rank
 * are ended, other ranks may fail because they miss it.
 */
final class RankProcesses {
    private static final Duration LAST_RESORT = Duration.ofSeconds(15);
    private static final int LAST_LINES = 20;
    private static final int WAKE = -1;

    private final RankEnvironment environment;
    private final LaunchListener listener;
    private final StopRequest stop;
    private final BlockingQueue<Integer> events = new LinkedBlockingQueue<>();
    private final List<Rank> ranks = new ArrayList<>();
    private final long begin = System.nanoTime();
    private int running;
    private @Nullable Rank failed;
    private StopRequest.Kind done = StopRequest.Kind.NONE;
    private long politeUntilNanos;
    private boolean isPolite;

    /** One rank, and its state. */
    private static final class Rank {
        private final int number;
        private final Deque<OutputLine> lastLines = new ArrayDeque<>();
        private @Nullable ChildProcess process;
        private volatile long diedNanos;
        private volatile boolean isDead;
        private long askedNanos;
        private boolean isAsked;
        private long killNanos;
        private boolean isKillDue;
        private @Nullable RankResult end;

        private Rank(int number) {
            this.number = number;
        }

        private synchronized void keep(List<OutputLine> lines) {
            lastLines.addAll(lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
            while (lastLines.size() > LAST_LINES) {
                lastLines.removeFirst();
            }
        }

        private synchronized List<String> lastLines() {
            return lastLines.stream().map(OutputLine::text).toList();
        }

        private void killAfter(Duration grace) {
            long nanos = System.nanoTime() + grace.toNanos();
            killNanos = isKillDue && killNanos - nanos < 0 ? killNanos : nanos;
            isKillDue = true;
        }

        private void died() {
            diedNanos = System.nanoTime();
            isDead = true;
        }
    }

    RankProcesses(RankEnvironment environment, LaunchListener listener, StopRequest stop) {
        this.environment = environment;
        this.listener = listener;
        this.stop = stop;
    }

    /** Runs all ranks until they have ended. */
    AttemptResult run() {
        stop.wakeBy(() -> events.add(WAKE));
        try {
            startAll();
            follow();
            return end();
        } finally {
            stop.wakeBy(() -> {});
            ranks.stream().map(rank -> rank.process).forEach(process -> {
                if (process != null) {
                    process.close();
                }
            });
        }
    }

    private void startAll() {
        for (int number = 0; number < environment.plan().worldSize() && !stop.isAsked(); number++) {
            Rank rank = new Rank(number);
            ranks.add(rank);
            running++;
            start(rank);
        }
    }

    private void start(Rank rank) {
        LaunchListener.RankLogs logs = listener.logs(environment.attempt(), rank.number);
        OutputRedirect output = OutputRedirect.apart(logs.out(), logs.err(), lines -> {
            rank.keep(lines);
            listener.lines(rank.number, lines);
        });
        boolean readsInput = environment.place().firstRank() + rank.number == 0
                && environment.plan().isInputForRankZero();
        ProcessSpec program = new ProcessSpec(
                environment.plan().words(), environment.changes(rank.number, logs.error()), null, output, readsInput);
        ChildProcess process = ChildProcess.start(program.withPromptPython());
        rank.process = process;
        var unusedDeath = process.onDeath().thenRun(rank::died);
        var unusedEnd = process.onEnd().thenRun(() -> events.add(rank.number));
    }

    private void follow() {
        while (running > 0) {
            Integer event = next();
            if (event != null && event >= 0) {
                ended(ranks.get(event));
            }
            if (stop.kind().compareTo(done) > 0) {
                done = stop.kind();
                askAll(done, environment.plan().grace());
            }
            stop.takeSignals().forEach(this::signalAll);
            if (isPolite && System.nanoTime() - politeUntilNanos >= 0) {
                Duration grace = environment.plan().grace();
                askAll(StopRequest.Kind.TERMINATE, grace.minus(politely(grace)));
            }
            if (event == null && !isPolite && (failed != null || stop.isAsked()) && isHopeless()) {
                return;
            }
        }
    }

    /** Waits for the next event, or until the next deadline. */
    private @Nullable Integer next() {
        try {
            return events.poll(100, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            stop.ask(StopRequest.Kind.KILL); // only a caller that wants the end interrupts this thread
            return null;
        }
    }

    private void ended(Rank rank) {
        ChildProcess process = rank.process;
        if (process == null || rank.end != null) {
            return;
        }
        running--;
        RankResult end = new RankResult(
                rank.number, process.pid(), own(rank, process.onEnd().join()), rank.lastLines());
        rank.end = end;
        listener.rankEnded(environment.attempt(), end);
        boolean isFailure = !end.cause().isSuccess() && !(end.cause() instanceof Ended);
        if (isFailure && failed == null && !stop.isAsked()) {
            failed = rank;
            if (running > 0) {
                listener.othersAreEnded(environment.attempt(), rank.number);
            }
            askAll(StopRequest.Kind.TERMINATE, environment.plan().grace());
        }
    }

    /** A rank that died before the request to end has ended by itself. */
    private static ProcessResult own(Rank rank, ProcessResult ending) {
        boolean diedBefore = rank.isAsked && rank.isDead && rank.diedNanos - rank.askedNanos < 0;
        return ending.cause() instanceof Ended ended && diedBefore
                ? new ProcessResult(ExitCause.ofCode(ended.exitCode()), ending.ran(), ending.outputTrouble())
                : ending;
    }

    /** Requests the end of all running ranks, and kills them after the grace. An interrupt is followed by SIGTERM after half of it. */
    private void askAll(StopRequest.Kind kind, Duration grace) {
        isPolite = kind == StopRequest.Kind.INTERRUPT;
        if (isPolite) {
            politeUntilNanos = System.nanoTime() + politely(grace).toNanos();
        }
        for (Rank rank : ranks) {
            ChildProcess process = rank.process;
            if (process != null && rank.end == null && !(rank.isDead && kind != StopRequest.Kind.KILL)) {
                ask(rank, process, kind, grace);
            }
        }
    }

    private void signalAll(String name) {
        for (Rank rank : ranks) {
            if (rank.process != null && !rank.isDead) {
                GroupSignal.send(rank.process, name);
            }
        }
    }

    private static Duration politely(Duration grace) {
        return grace.dividedBy(2);
    }

    private static void ask(Rank rank, ChildProcess process, StopRequest.Kind kind, Duration grace) {
        if (!rank.isAsked) {
            rank.isAsked = true;
            rank.askedNanos = System.nanoTime();
        }
        switch (kind) {
            case INTERRUPT -> GroupSignal.send(process, "INT", "CONT");
            case TERMINATE -> {
                rank.killAfter(grace);
                process.end(EndReason.CANCELLED, grace);
                GroupSignal.send(process, "CONT");
            }
            case KILL -> {
                rank.killAfter(Duration.ZERO);
                process.end(EndReason.CANCELLED, Duration.ZERO);
            }
            case NONE -> throw new IllegalArgumentException("nothing to ask");
        }
    }

    /** Returns whether the kernel holds a rank long after its kill. */
    private boolean isHopeless() {
        return ranks.stream()
                .filter(rank -> rank.end == null && rank.isKillDue)
                .anyMatch(rank -> System.nanoTime() - rank.killNanos > LAST_RESORT.toNanos());
    }

    private AttemptResult end() {
        Duration ran = Duration.ofNanos(System.nanoTime() - begin);
        List<RankResult> ends = new ArrayList<>();
        RankResult first = null;
        long firstNanos = 0;
        for (Rank rank : ranks) {
            RankResult end = rank.end;
            if (end == null) {
                end = stuck(rank, ran);
            }
            ends.add(end);
            boolean isFailure = !end.cause().isSuccess() && !(end.cause() instanceof Ended) && isTold(rank);
            long diedNanos = rank.isDead ? rank.diedNanos : begin;
            if (isFailure && (first == null || diedNanos - firstNanos < 0)) {
                first = end;
                firstNanos = diedNanos;
            }
        }
        return new AttemptResult(environment.attempt(), ends, first, firstNanos, ran);
    }

    /** Returns whether failures count. On several machines they do also if another launcher has requested the end a moment before. */
    private boolean isTold(Rank rank) {
        boolean diedBefore = rank.isDead && rank.isAsked && rank.diedNanos - rank.askedNanos < 0;
        return failed != null || (environment.plan().node() != null && diedBefore);
    }

    private static RankResult stuck(Rank rank, Duration ran) {
        long pid = rank.process == null ? -1 : rank.process.pid();
        Ended killed = new Ended(EndReason.CANCELLED, ExitCause.SIGNAL_BASE + ExitCause.Signals.KILL);
        return new RankResult(
                rank.number,
                pid,
                new ProcessResult(killed, ran, "it was killed, but the kernel keeps it: see /proc/" + pid + "/stack"),
                rank.lastLines());
    }
}
