package dev.larder.cluster;

import dev.larder.launch.process.OutputLine;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;

/**
 * Hands lines of ranks on in a thread of its own, those of one stream together, and keeps a bounded number of them: ranks never wait for a
 * network or a terminal. Lines that do not fit are left out and counted.
 */
final class LineForwarder implements AutoCloseable {
    /** Takes lines. */
    interface Taker {
        void take(RankLines lines) throws IOException;
    }

    /** Lines of one stream of a rank, in their order. */
    record RankLines(String node, int rank, List<OutputLine> lines) {}

    private record RankLine(String node, int rank, OutputLine line) {
        private int size() {
            return 64 + line.raw().length();
        }

        private boolean isOfSameStream(RankLine other) {
            return rank == other.rank && node.equals(other.node) && line.isError() == other.line.isError();
        }
    }

    /** What is handed on together is no longer than this, or one line. */
    private static final int TOGETHER_CHARACTERS = 64 << 10;

    private static final int MOST_CHARACTERS = 4 << 20;

    private final Taker taker;
    private final Function<Long, String> leftOut;
    private final Deque<RankLine> lines = new ArrayDeque<>();
    private final Thread thread;
    private long characters;
    private long lost;
    private boolean isTaking;
    private boolean isClosed;

    /** {@code leftOut} says that so many lines were left out. */
    LineForwarder(Taker taker, Function<Long, String> leftOut) {
        this.taker = taker;
        this.leftOut = leftOut;
        this.thread = new Thread(this::run, "larder-lines");
        thread.setDaemon(true);
        thread.start();
    }

    /** Takes lines of a rank, and leaves out those that do not fit. */
    synchronized void offer(String node, int rank, List<OutputLine> some) {
        if (!isClosed) {
            some.forEach(line -> offer(new RankLine(node, rank, line)));
            notifyAll();
        }
    }

    private void offer(RankLine line) {
        if (characters + line.size() > MOST_CHARACTERS) {
            lost++;
            return;
        }
        if (lost > 0) {
            add(new RankLine(line.node(), line.rank(), OutputLine.of(leftOut.apply(lost), true, false)));
            lost = 0;
        }
        add(line);
    }

    private void add(RankLine line) {
        lines.add(line);
        characters += line.size();
    }

    /** Waits until all lines have been taken, but not for long. */
    synchronized void drain(Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        try {
            for (long left = patience.toMillis();
                    left > 0 && (!lines.isEmpty() || isTaking) && !isClosed;
                    left = (end - System.nanoTime()) / 1_000_000) {
                wait(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized RankLines next() throws InterruptedException {
        isTaking = false;
        notifyAll();
        while (lines.isEmpty()) {
            wait();
        }
        isTaking = true;
        RankLine first = lines.element();
        List<OutputLine> together = new ArrayList<>();
        int size = 0;
        for (RankLine line = first;
                line != null
                        && line.isOfSameStream(first)
                        && (line == first || size + line.size() <= TOGETHER_CHARACTERS);
                line = lines.peek()) {
            lines.remove();
            together.add(line.line());
            size += line.size();
        }
        characters -= size;
        return new RankLines(first.node(), first.rank(), together);
    }

    private void run() {
        try {
            while (true) {
                taker.take(next());
            }
        } catch (InterruptedException | IOException e) {
            close(); // nobody is there to take lines any more
        }
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        lines.clear();
        thread.interrupt();
        notifyAll();
    }
}
