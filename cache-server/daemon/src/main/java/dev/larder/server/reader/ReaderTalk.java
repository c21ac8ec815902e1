package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.Names;
import dev.larder.reader.Answer;
import dev.larder.reader.BadSource;
import dev.larder.server.source.ScanSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.LongConsumer;
import java.util.stream.Stream;

/**
 * The conversation with the process of a reader. Ends it if it makes no progress, claims impossible progress, or writes too much. Closing it kills the
 * process.
 */
final class ReaderTalk implements AutoCloseable {
    private static final long POLL_MS = 50;
    private static final long LOOK_AT_FOLDER_NS = 200_000_000;

    /** The pause between two looks at the folder, in times of the length of a look. */
    private static final long PAUSE_TIMES = 9;

    /** The most times that a byte may be read: for formats that pack tightly, or that are read several times. */
    private static final long MOST_TIMES_READ = 64;

    private static final long LEAST_ALLOWED_BYTES = 1L << 30;

    private final String kind;
    private final ReaderChild process;
    private final Duration patience;
    private final BooleanSupplier isCancelled;
    private final ReaderFolder folder;

    private ReaderTalk(
            String kind, ReaderChild process, Duration patience, BooleanSupplier isCancelled, ReaderFolder folder) {
        this.kind = kind;
        this.process = process;
        this.patience = patience;
        this.isCancelled = isCancelled;
        this.folder = folder;
    }

    /**
     * Starts a reader. The caller closes the conversation.
     *
     * @param folder the folder that the process runs in
     * @param sourceBytes how much it reads; {@link Long#MAX_VALUE} if that is unknown
     */
    static ReaderTalk start(
            Readers.Known reader, ReaderFolder folder, ScanSettings settings, int workers, long sourceBytes) {
        ReaderLimits limits = ReaderLimits.now();
        ReaderChild process = ReaderChild.start(reader, folder.path(), limits.heap(), workers, sourceBytes);
        return new ReaderTalk(reader.spec().kind(), process, limits.patience(), settings.isCancelled(), folder);
    }

    /** Sends messages, and does not wait until the reader takes them. */
    void send(Stream<byte[]> messages) {
        process.send(messages);
    }

    /**
     * Passes every answer to a consumer until the reader has finished.
     *
     * @param bytes how much it reads or writes in all
     * @param writtenAtMost how much its folder may have; 0 while it writes no arrays
     */
    void await(long bytes, long writtenAtMost, LongConsumer onBytes, Consumer<Answer> onAnswer) {
        long credible = writtenAtMost > 0 ? bytes : Math.max(LEAST_ALLOWED_BYTES, saturated(bytes));
        long lastNs = System.nanoTime();
        long nextLookNs = lastNs + LOOK_AT_FOLDER_NS;
        while (true) {
            ReaderChild.Said next = next();
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
            requirePatience(now - lastNs); // reports of no bytes are no progress
        }
    }

    private static long saturated(long bytes) {
        return bytes > Long.MAX_VALUE / MOST_TIMES_READ ? Long.MAX_VALUE : bytes * MOST_TIMES_READ;
    }

    private ReaderChild.@org.jspecify.annotations.Nullable Said next() {
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

    /**
     * Returns the failure that an answer means.
     *
     * @param files how many files the reader may name
     * @param file returns the file with a number, for messages
     */
    LarderException refusal(Answer answer, int files, IntFunction<Object> file) {
        if (answer instanceof Answer.Refused refused && refused.file() >= 0 && refused.file() < files) {
            Failure failure =
                    Failure.of(ErrorCode.BAD_INPUT, "cannot read source file").with("file", file.apply(refused.file()));
            if (refused.offset() != BadSource.NOWHERE) {
                failure = failure.with("offset", refused.offset());
            }
            if (!refused.column().isEmpty()) {
                failure = failure.with("column", Names.printable(refused.column()));
            }
            return failure.with("reason", refused.reason()).remedy(refused.remedy());
        } else if (answer instanceof Answer.Failed failed) {
            return failed.reason().contains("No space left on device")
                    ? Failure.of(ErrorCode.NO_SPACE, "the store's file system is full")
                            .with("reason", failed.reason())
                            .remedy("something else used the space; " + Remedy.FREE_SPACE)
                    : process.failure("a reader failed", null)
                            .with("file", file.apply(0))
                            .with("reason", failed.reason())
                            .remedy("nothing else is affected; check the file and load it again, or report the reason");
        }
        return impossible("a reader broke the protocol").remedy("replace the reader " + kind);
    }

    /** Starts a failure of the reader, with the last lines that it has printed. */
    Failure impossible(String what) {
        return process.failure(what, null);
    }

    /** Waits until the reader ends, and kills all that it has started, so that no process can write to its files any more. */
    void end() {
        process.awaitEnd();
        if (!process.kill()) {
            throw impossible("a reader left a process that cannot be killed").exception();
        }
    }

    @Override
    public void close() {
        process.close();
    }
}
