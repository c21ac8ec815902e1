package dev.larder.reader;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Fetches objects into files that the daemon has made: large ones in parts, many requests at a time. A broken request continues at its last byte. */
final class PlaceFetch {
    /** Long enough that the time of a request does not matter. */
    private static final long LEAST_PART_BYTES = 8L << 20;

    /** Short enough that several connections share a file, and that all end at about the same time. */
    private static final long MOST_PART_BYTES = 64L << 20;

    /** Several parts for each connection, as some are faster than others. */
    private static final long PARTS_OF_CONNECTION = 2;

    private static final int BUFFER_BYTES = 256 << 10;

    /** So many bytes after a failure show that the place works again. */
    private static final long RECOVERED_BYTES = 64 << 10;

    private final PlaceReader reader;
    private final ReadProgress progress;
    private final AtomicReference<@Nullable IOException> failure = new AtomicReference<>();

    PlaceFetch(PlaceReader reader, ReadProgress progress) {
        this.reader = reader;
        this.progress = progress;
    }

    /** Fetches all; each target's number is that of its object. */
    void run(List<PlaceObject> objects, List<Target> targets, int connections) throws IOException {
        List<WorkerThreads.Part> parts = new ArrayList<>();
        long partBytes = partBytes(
                targets.stream().mapToLong(Target::byteSize).sum() / (PARTS_OF_CONNECTION * Math.max(1, connections)));
        for (Target target : targets) {
            PlaceObject object = objects.get(target.offer());
            long step = object.hasRanges() ? partBytes : Math.max(1, target.byteSize());
            long end = target.start() + target.byteSize();
            for (long from = target.start(); from < end; from += step) {
                Part part = new Part(object, target, from, Math.min(end, from + step));
                parts.add(() -> runUnlessFailed(part));
            }
        }
        WorkerThreads.runAll(connections, parts);
    }

    /** Returns how long a part is, a power of two: each one costs a request. */
    private static long partBytes(long wanted) {
        return Long.highestOneBit(Math.max(LEAST_PART_BYTES, Math.min(MOST_PART_BYTES, wanted)));
    }

    /** Throws the first failure of any part, so that it ends the others. */
    private void runUnlessFailed(Part part) throws IOException {
        try {
            part.run();
        } catch (IOException e) {
            failure.compareAndSet(null, e);
            throw firstFailure(e);
        }
    }

    private IOException firstFailure(IOException otherwise) {
        IOException first = failure.get();
        return first == null ? otherwise : first;
    }

    private void requireNoFailure() throws IOException {
        IOException first = failure.get();
        if (first != null) {
            throw first;
        }
    }

    private final class Part {
        private final PlaceObject object;
        private final Target target;
        private final long end;
        private final Retries retries = new Retries();
        private long at;
        private long told;
        private long failedAt;

        Part(PlaceObject object, Target target, long from, long end) {
            this.object = object;
            this.target = target;
            this.at = from;
            this.told = from;
            this.end = end;
        }

        void run() throws IOException {
            byte[] buffer = new byte[(int) Math.min(BUFFER_BYTES, end - at)];
            while (at < end) {
                requireNoFailure();
                try (FileChannel file = FileChannel.open(target.path(), StandardOpenOption.WRITE)) {
                    fetch(file, buffer);
                } catch (BadSource e) {
                    throw new BadSource(target.offer(), e.offset(), "", String.valueOf(e.getMessage()), e.remedy());
                } catch (WriteFailure e) {
                    throw e;
                } catch (IOException e) {
                    failedAt = at;
                    pause(e);
                    at = object.hasRanges() ? at : target.start();
                }
            }
        }

        private void pause(IOException reason) throws BadSource {
            try {
                retries.pauseAfter(reason);
            } catch (Retries.GaveUp e) {
                throw PlaceProgram.gaveUp(target.offer(), at, e);
            }
        }

        private void fetch(FileChannel file, byte[] buffer) throws IOException {
            try (InputStream in = reader.open(object, at, end)) {
                while (at < end) {
                    int count = in.read(buffer, 0, (int) Math.min(buffer.length, end - at));
                    if (count < 0) {
                        throw new EOFException("the connection ended after " + at + " of " + end + " bytes");
                    }
                    write(file, ByteBuffer.wrap(buffer, 0, count));
                    requireNoFailure();
                }
                if (end == object.byteSize() && in.read() >= 0) {
                    throw BadSource.changed(target.offer(), "it is longer than the " + end + " bytes it had");
                }
            }
        }

        private void write(FileChannel file, ByteBuffer bytes) throws WriteFailure {
            try {
                while (bytes.hasRemaining()) {
                    at += file.write(bytes, target.offset() + at);
                }
            } catch (IOException e) {
                throw new WriteFailure(e);
            }
            if (at > told) {
                progress.looked(at - told);
                told = at;
            }
            if (at - failedAt > RECOVERED_BYTES) {
                retries.reset();
            }
        }
    }

    /** Reports that this machine fails, not the place, such as a full disk. */
    private static final class WriteFailure extends IOException {
        private static final long serialVersionUID = 1;

        WriteFailure(IOException cause) {
            super(BadSource.words(cause), cause);
        }
    }
}
