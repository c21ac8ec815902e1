package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress.Phase;
import dev.larder.server.residency.Residency;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Parallel;
import dev.larder.server.source.SourceArray;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.PublishedVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Compares a version of an earlier boot with its checksums, before clients can open it. A whole version becomes current; a damaged one is
 * loaded again or set aside.
 */
public final class Recheck extends Ingest {
    private final PublishedVersion version;
    private final Residency residency;
    private final int workers;
    private final Runnable beforeOutcome;
    private final AtomicBoolean started = new AtomicBoolean();
    private volatile boolean cancelled;

    Recheck(PublishedVersion version, Residency residency, int workers, Runnable beforeOutcome) {
        super(Set.of(version.dataset()));
        this.version = version;
        this.residency = residency;
        this.workers = workers;
        this.beforeOutcome = beforeOutcome;
        progress.begin(Phase.VERIFYING, version.dataBytes(), version.arrays().size());
    }

    /** Returns an empty list: no source is read. */
    @Override
    public List<SourceArray> arrays() {
        return List.of();
    }

    /** Leaves the version to the next start, which compares it again. */
    @Override
    public void cancel() {
        cancelled = true;
        if (started.compareAndSet(false, true)) {
            ending.outcome().completeExceptionally(cancellation());
        }
    }

    /** Compares now, on a new thread, unless it has begun: a client waits for this version. */
    void startNow() {
        if (!started.get()) {
            Thread thread = new Thread(this::run, "larder-recheck");
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Does the work unless it has begun, and completes {@link #outcome}. Throws nothing. */
    void run() {
        if (!started.compareAndSet(false, true)) {
            return;
        }
        try {
            compare();
            residency.unverified().reveal(version);
        } catch (RuntimeException | Error e) {
            Throwable reason = outcomeOf(e);
            beforeOutcome.run();
            ending.outcome().completeExceptionally(reason);
            return;
        }
        beforeOutcome.run();
        ending.outcome().complete(Done.of(version.arrays().size(), version.dataBytes(), ""));
    }

    /** Gives the version up only if it is damaged. After any other failure it stays unverified, and can be compared again. */
    private Throwable outcomeOf(Throwable failure) {
        if (failure instanceof CancellationException) {
            return cancellation();
        } else if (failure instanceof Error) {
            return failure;
        } else if (failure instanceof LarderException known && known.code() == ErrorCode.CHECKSUM) {
            return rejected(known);
        }
        return Failure.of(
                        failure instanceof LarderException known ? known.code() : ErrorCode.UNEXPECTED,
                        "version cannot be verified after a restart")
                .with("dataset", version.dataset())
                .with("version", version.version())
                .with("reason", failure)
                .cause(failure)
                .remedy("larder wait " + version.dataset() + " tries again");
    }

    private LarderException cancellation() {
        return Failure.of(ErrorCode.NO_DAEMON, "the daemon is stopping")
                .with("dataset", version.dataset())
                .remedy(Remedy.START_DAEMON);
    }

    private void compare() {
        Checksums checksums = new Checksums(progress::addBytes, () -> !cancelled);
        Parallel.forEach(version.arrays(), workers, array -> {
            Path file = version.folder().resolve(array.file());
            requireLength(array, file);
            requireSame(array, checksums.of(new Extent(file, array.offset(), array.byteSize())));
            progress.addFile();
        });
    }

    private void requireLength(ArrayEntry array, Path file) {
        long found;
        try {
            found = Files.size(file);
        } catch (NoSuchFileException e) {
            found = 0;
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot read a file")
                    .with("file", file)
                    .with("reason", e)
                    .cause(e)
                    .remedy("check the file and its disk");
        }
        if (found < array.offset() + array.byteSize()) {
            throw Failure.of(ErrorCode.CHECKSUM, "file of an array is too short")
                    .with("array", version.dataset() + "/" + array.name())
                    .with("bytes", found)
                    .with("expected", array.offset() + array.byteSize())
                    .exception();
        }
    }

    private void requireSame(ArrayEntry array, int found) {
        if (found != array.crc32c()) {
            throw Failure.of(ErrorCode.CHECKSUM, "array does not match its checksum")
                    .with("array", version.dataset() + "/" + array.name())
                    .with("crc32c", String.format("%08x", found))
                    .with("expected", array.crc32cHex())
                    .exception();
        }
    }

    /** Gives the version up. If even that fails, it stays unverified for the next start. */
    private LarderException rejected(LarderException reason) {
        Failure failure = Failure.of(ErrorCode.CHECKSUM, "version was damaged while the machine was down")
                .with("dataset", version.dataset())
                .with("version", version.version())
                .with("reason", reason);
        try {
            residency.unverified().reject(version);
        } catch (RuntimeException | Error e) {
            reason.addSuppressed(e);
        }
        return failure.cause(reason)
                .remedy(
                        version.isSourced()
                                ? "it is loaded again on request; test the disk"
                                : "compute it again, or copy undamaged arrays from " + Store.asideOf(version)
                                        + "; test the disk");
    }
}
