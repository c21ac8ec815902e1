package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.reader.Answer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** Waits for a reader: as long as it makes progress that can be true, and writes no more than it may. */
final class ReaderTalk {
    private static final long POLL_MS = 50;
    private static final long LOOK_AT_FOLDER_NS = 200_000_000;

    /** So many times as long as looking at the folder takes nobody looks. */
    private static final long PAUSE_TIMES = 9;

    /** A format that packs tighter, or is read over and over, counts no more. */
    private static final long MOST_TIMES_READ = 64;

    private static final long LEAST_ALLOWED_BYTES = 1L << 30;

    private final ReaderProcess process;
    private final Duration patience;
    private final BooleanSupplier isCancelled;
    private final ReaderFolder folder;

    ReaderTalk(ReaderProcess process, Duration patience, BooleanSupplier isCancelled, ReaderFolder folder) {
        this.process = process;
        this.patience = patience;
        this.isCancelled = isCancelled;
        this.folder = folder;
    }

    /**
     * Hands every answer to a consumer until the reader has finished.
     *
     * @param bytes what it reads or writes in all
     * @param writtenAtMost what its folder may have; 0 while nothing is to be written
     */
    void await(long bytes, long writtenAtMost, LongConsumer onBytes, Consumer<Answer> onAnswer) {
        long credible = writtenAtMost > 0 ? bytes : Math.max(LEAST_ALLOWED_BYTES, saturated(bytes));
        long lastNs = System.nanoTime();
        long nextLookNs = lastNs + LOOK_AT_FOLDER_NS;
        while (true) {
            ReaderProcess.Said next = next();
            long now = System.nanoTime();
            if (now > nextLookNs) {
                requireRoom(writtenAtMost);
                long lookedNs = System.nanoTime(); // very many files take long
                nextLookNs = lookedNs + Math.max(LOOK_AT_FOLDER_NS, PAUSE_TIMES * (lookedNs - now));
            }
            IOException broken = next == null ? null : next.broken();
            if (broken != null) {
                throw process.ended(broken);
            }
            Answer answer = next == null ? null : next.answer();
            if (answer instanceof Answer.Finished) {
                requireRoom(writtenAtMost);
                return;
            } else if (answer instanceof Answer.Progressed progressed) {
                credible -= progressed.bytes();
                if (progressed.bytes() < 0 || credible < 0) {
                    throw process.failure("a reader claims more progress than there can be", null)
                            .remedy("replace the reader");
                }
                onBytes.accept(progressed.bytes());
                lastNs = progressed.bytes() > 0 ? now : lastNs;
            } else if (answer != null) {
                onAnswer.accept(answer);
                lastNs = now;
            }
            requirePatience(now - lastNs); // who tells of no bytes, over and over, makes no progress either
        }
    }

    private static long saturated(long bytes) {
        return bytes > Long.MAX_VALUE / MOST_TIMES_READ ? Long.MAX_VALUE : bytes * MOST_TIMES_READ;
    }

    private ReaderProcess.@org.jspecify.annotations.Nullable Said next() {
        if (isCancelled.getAsBoolean()) {
            throw new CancellationException("cancelled while a reader worked");
        }
        try {
            return process.next(POLL_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while a reader worked");
        }
    }

    private void requirePatience(long silentNs) {
        if (silentNs > patience.toNanos()) {
            throw hung();
        }
    }

    private LarderException hung() {
        return Failure.of(ErrorCode.DEADLINE, "a reader made no progress")
                .with("seconds", patience.toSeconds())
                .with("reader", process.describe())
                .remedy("nothing else is affected; for a source that is slow by nature: "
                        + ReaderLimits.PATIENCE_VARIABLE + "=SECONDS");
    }

    private void requireRoom(long writtenAtMost) {
        long allowed = folder.expectedBytes();
        long found = folder.occupiedBytes();
        if (found > allowed) {
            throw process.failure("a reader wrote more than it offered", null)
                    .with("bytes", found)
                    .with("allowed", writtenAtMost > 0 ? writtenAtMost : allowed)
                    .remedy("nothing else is affected; replace the reader");
        }
    }
}
