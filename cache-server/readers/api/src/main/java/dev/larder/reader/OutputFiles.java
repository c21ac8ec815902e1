package dev.larder.reader;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/** Maps the files that the daemon has made, window by window. Ends with the process; closing it closes the files. Thread-safe. */
final class OutputFiles implements Output, AutoCloseable {
    /** Each window is twice as long as the distance between two, so that every stretch is within one window. */
    private static final int WINDOW_SHIFT = 30;

    private static final long MOST_MAPPED = Integer.MAX_VALUE;

    private final Map<Integer, Mapped> files = new HashMap<>();
    private final LongConsumer onBytes;

    OutputFiles(List<Target> targets, LongConsumer onBytes) throws IOException {
        this.onBytes = onBytes;
        for (Target target : targets) {
            files.put(target.offer(), new Mapped(target));
        }
    }

    private static final class Mapped {
        final Target target;
        final AtomicLong handedOut = new AtomicLong();
        private final FileChannel channel;
        private final Map<Integer, MappedByteBuffer> windows = new ConcurrentHashMap<>();

        Mapped(Target target) throws IOException {
            this.target = target;
            this.channel = FileChannel.open(target.path(), StandardOpenOption.READ, StandardOpenOption.WRITE);
        }

        ByteBuffer window(int number) {
            return windows.computeIfAbsent(number, window -> {
                long start = (long) window << WINDOW_SHIFT;
                try {
                    return channel.map(
                            FileChannel.MapMode.READ_WRITE,
                            target.offset() + start,
                            Math.min(MOST_MAPPED, target.byteSize() - start));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    @Override
    public ByteBuffer at(int offer, long position, int length) {
        Mapped file = files.get(offer);
        if (file == null) {
            throw new IllegalArgumentException("the daemon did not request this offer: offer=" + offer);
        }
        if (position < 0 || length < 0 || length > MOST_BYTES || position > file.target.byteSize() - length) {
            throw new IllegalArgumentException("outside of the array: offer=" + offer + " position=" + position
                    + " length=" + length + " byteSize=" + file.target.byteSize());
        }
        if (length == 0) {
            return ByteBuffer.allocateDirect(0).order(ByteOrder.LITTLE_ENDIAN);
        }
        int number = (int) (position >>> WINDOW_SHIFT);
        int start = (int) (position - ((long) number << WINDOW_SHIFT));
        file.handedOut.addAndGet(length);
        onBytes.accept(length);
        return file.window(number).slice(start, length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Fails unless the reader has taken each byte once. */
    void requireComplete(List<Offer> offers) {
        for (Mapped file : files.values()) {
            if (file.handedOut.get() != file.target.byteSize()) {
                throw new IllegalStateException("the reader wrote another number of bytes than it offered: array="
                        + offers.get(file.target.offer()).name() + " written=" + file.handedOut + " expected="
                        + file.target.byteSize());
            }
        }
    }

    /** Unmaps everything, because the daemon publishes only files without writers. Stretches may not be used afterwards. */
    @Override
    public void close() throws IOException {
        for (Mapped file : files.values()) {
            file.windows.clear();
            file.channel.close();
        }
    }
}
