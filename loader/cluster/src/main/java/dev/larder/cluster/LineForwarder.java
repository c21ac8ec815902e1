package dev.larder.cluster;

import dev.larder.launch.process.OutputLine;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Function;

/**
 * Hands lines of ranks on in a thread of its own, and keeps a bounded number of them: ranks never wait for a network or a terminal.
 * What does not fit is left out and counted.
 */
final class LineForwarder implements AutoCloseable {
    /** Takes a line. */
    interface Taker {
        void take(RankLine line) throws IOException;
    }

    /** A line and the rank that wrote it. */
    record RankLine(String node, int rank, OutputLine line) {
        Message message() {
            return Message.of(Message.Kind.LINE)
                    .with("rank", rank)
                    .with("error", line.isError() ? 1 : 0)
                    .with("overwritten", line.isOverwritten() ? 1 : 0)
                    .with("raw", line.raw());
        }

        static RankLine of(String node, Message message) {
            return new RankLine(
                    node,
                    message.integer("rank"),
                    new OutputLine(
                            message.text("raw"), message.number("error") == 1, message.number("overwritten") == 1));
        }

        private int size() {
            return 64 + line.raw().length();
        }
    }

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

    /** Takes a line, or leaves it out where too much is waiting. */
    synchronized void offer(RankLine line) {
        if (isClosed) {
            return;
        }
        if (characters + line.size() > MOST_CHARACTERS) {
            lost++;
            return;
        }
        if (lost > 0) {
            add(new RankLine(line.node(), line.rank(), OutputLine.of(leftOut.apply(lost), true, false)));
            lost = 0;
        }
        add(line);
        notifyAll();
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

    private synchronized RankLine next() throws InterruptedException {
        isTaking = false;
        notifyAll();
        while (lines.isEmpty()) {
            wait();
        }
        RankLine line = lines.remove();
        characters -= line.size();
        isTaking = true;
        return line;
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
