package dev.larder.cluster;

import dev.larder.launch.process.OutputLine;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Forwards lines of ranks in a thread of its own, those of one stream together, and keeps a bounded number of them: ranks never wait for a
 * network or a terminal. Lines that do not fit are counted and dropped.
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

    /** The most characters of several lines that are forwarded together. */
    private static final int TOGETHER_CHARACTERS = 64 << 10;

    private static final int MOST_CHARACTERS = 4 << 20;

    private final Taker taker;
    private final Function<Long, String> leftOut;
    private final Deque<RankLine> lines = new ArrayDeque<>();
    private long characters;
    private long lost;
    private boolean isTaking;
    private boolean isClosed;

    /** Forwards lines; {@code leftOut} returns a line that reports the number of dropped lines. */
    LineForwarder(Taker taker, Function<Long, String> leftOut) {
        this.taker = taker;
        this.leftOut = leftOut;
        Thread thread = new Thread(this::run, "larder-lines");
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

    /** Waits for lines; null after closing. */
    private synchronized @Nullable RankLines next() throws InterruptedException {
        isTaking = false;
        notifyAll();
        while (lines.isEmpty() && !isClosed) {
            wait();
        }
        if (isClosed) {
            return null;
        }
        isTaking = true;
        RankLine first = lines.remove();
        List<OutputLine> together = new ArrayList<>(List.of(first.line()));
        int size = first.size();
        for (RankLine line = lines.peek();
                line != null && line.isOfSameStream(first) && size + line.size() <= TOGETHER_CHARACTERS;
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
            for (RankLines some = next(); some != null; some = next()) {
                taker.take(some);
            }
        } catch (InterruptedException | IOException e) {
            close(); // the receiver is gone
        }
    }

    /** Drops the lines. Does not interrupt the thread: an interrupt closes the link, and it may be writing. */
    @Override
    public synchronized void close() {
        isClosed = true;
        lines.clear();
        notifyAll();
    }
}
