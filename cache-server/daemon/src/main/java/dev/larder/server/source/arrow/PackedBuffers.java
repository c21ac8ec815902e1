package dev.larder.server.source.arrow;

import dev.larder.server.reader.UnpackedFiles;
import dev.larder.server.source.Extent;
import java.io.Closeable;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The compressed buffers of one file. The first walk through the file collects them, a reader decompresses them into one file after
 * each other, and the second walk finds them there. Each begins with its decompressed length, or with -1 if it is not compressed.
 * Not thread-safe.
 */
final class PackedBuffers implements Closeable {
    private static final int PREFIX_BYTES = Long.BYTES;

    /** The heap that a buffer takes here, and in the request to the reader, which exists several times. */
    private static final int HEAP_BYTES = 640;

    private static final int MOST = (int) Math.min(1 << 22, Runtime.getRuntime().maxMemory() / 8 / HEAP_BYTES);

    private final int number;
    private final List<String> stretches;
    private final NavigableMap<Long, Place> places = new TreeMap<>();
    private boolean isFound;
    private boolean isComplete;
    private long byteSum;
    private long start;
    private @Nullable ArrowFile unpacked;

    /** The end of a buffer in its file, and its place among the decompressed ones. */
    private record Place(long packedEnd, long offset, long byteSize) {}

    /**
     * Starts without buffers.
     *
     * @param number the index of the file
     * @param stretches receives the buffers of all files, as {@link UnpackedFiles#ofStretches} takes them
     */
    PackedBuffers(int number, List<String> stretches) {
        this.number = number;
        this.stretches = stretches;
    }

    /** Returns whether a batch has compressed buffers, even if all of them are empty. */
    boolean isFound() {
        return isFound;
    }

    /** Returns whether all buffers were collected, and can be read. */
    boolean isComplete() {
        return isComplete;
    }

    /** Ends the first walk. */
    void complete() {
        isComplete = true;
    }

    /** Adds a buffer. */
    void add(ArrowFile file, String codec, long offset, long byteSize) {
        isFound = true;
        if (byteSize == 0) {
            return;
        } else if (byteSize < PREFIX_BYTES) {
            throw file.refusal("a compressed buffer has " + byteSize + " bytes");
        } else if (stretches.size() == MOST) {
            throw file.refusal(
                    "it has more than " + MOST + " compressed buffers: write it in larger batches, or uncompressed");
        }
        requireApart(file, offset, offset + byteSize);
        long prefix = new BatchBuffer(file, offset, byteSize).single(0, PREFIX_BYTES);
        boolean isPacked = prefix != -1;
        long packedBytes = byteSize - PREFIX_BYTES;
        if (prefix < -1) {
            throw file.refusal("a compressed buffer has an impossible length: bytes=" + prefix);
        }
        long bytes = isPacked ? prefix : packedBytes;
        stretches.add(number + ":" + (isPacked && bytes > 0 ? codec : "none") + ":" + (offset + PREFIX_BYTES) + ":"
                + (bytes > 0 ? packedBytes : 0) + ":" + bytes);
        places.put(offset, new Place(offset + byteSize, byteSum, bytes));
        byteSum = Math.addExact(byteSum, bytes);
    }

    /** Refuses buffers that overlap: a small file could decompress to any length. */
    private void requireApart(ArrowFile file, long offset, long end) {
        Map.Entry<Long, Place> before = places.floorEntry(offset);
        Long next = places.higherKey(offset);
        if ((before != null && before.getValue().packedEnd > offset) || (next != null && next < end)) {
            throw file.refusal("its compressed buffers overlap");
        }
    }

    /** Opens the decompressed buffers of the file, none if all are empty. The caller closes this. */
    void open(ArrowFile file, @Nullable UnpackedFiles files) {
        if (files == null) {
            return;
        }
        Extent region = files.region(number);
        if (region.byteSize() != byteSum) {
            throw file.refusal("its buffers were decompressed to " + region.byteSize() + " of " + byteSum + " bytes");
        }
        start = region.offset();
        unpacked = ArrowFile.open(files.file(number), file.shown());
    }

    /** Returns the file of the decompressed buffers, whose errors show the message of {@code file}; {@code file} if all are empty. */
    ArrowFile file(ArrowFile file) {
        ArrowFile found = unpacked;
        if (found == null) {
            return file;
        }
        found.enter(file.at());
        return found;
    }

    /** Returns a buffer by its offset in the original file. */
    BatchBuffer buffer(ArrowFile file, long packedOffset) {
        Place place = places.get(packedOffset);
        if (place == null) {
            throw file.refusal("it changed while it was read");
        }
        return new BatchBuffer(file, start + place.offset, place.byteSize);
    }

    @Override
    public void close() {
        ArrowFile file = unpacked;
        if (file != null) {
            file.close();
        }
    }
}
