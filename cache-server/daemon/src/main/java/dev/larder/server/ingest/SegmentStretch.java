package dev.larder.server.ingest;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.ScatterList;
import dev.larder.server.source.Extent;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.store.SegmentWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive bytes of a segment: headers and data of arrays. Moves from the first byte to the last, over the extents of files, or the
 * streams, that provide the data. Belongs to one thread at a time.
 */
final class SegmentStretch {
    /** After this many files, a stretch ends with its array or at the next huge page. */
    private static final int MANY_FILES = 256;

    /** After this many files, a stretch ends anywhere. */
    private static final int MOST_FILES = 4096;

    private final SegmentCopy segment;
    private final List<SegmentArray> arrays;
    private final List<Part> parts = new ArrayList<>();
    private int index;
    private long offset;
    private int endIndex;
    private long endOffset;
    private List<Extent> extents = List.of();
    private int number;
    private @Nullable Extent extent;
    private long extentOffset;
    private @Nullable SourceIdentity file;
    private @Nullable SegmentWriter writer;
    private @Nullable Part part;

    /** Bytes of one array, and their checksum, which is updated with them in their order. */
    record Part(SegmentArray array, long start, long end, CRC32C checksum) {}

    /** Memory of the segment for bytes of an extent; {@code position} is their offset in the file. */
    record Piece(SegmentStretch stretch, Part part, int extent, long position, ByteBuffer memory) {}

    /** Starts with all bytes of a segment. */
    SegmentStretch(SegmentCopy segment, List<SegmentArray> arrays) {
        this.segment = segment;
        this.arrays = arrays;
        this.endIndex = arrays.size();
        enterArray(0);
    }

    private SegmentStretch(SegmentStretch other) {
        segment = other.segment;
        arrays = other.arrays;
        index = other.index;
        offset = other.offset;
        extents = other.extents;
        number = other.number;
        extent = other.extent;
        extentOffset = other.extentOffset;
    }

    /** Cuts off the first bytes: up to an offset in the segment, or fewer if they come from many files. A stream is not divided. */
    SegmentStretch cut(long end) {
        SegmentStretch front = new SegmentStretch(this);
        for (int files = 0; !isAtEnd() && segmentPosition() < end && files < MANY_FILES; ) {
            files += cutArray(end - array().dataOffset());
        }
        front.endIndex = index;
        front.endOffset = offset;
        return front;
    }

    /** Moves up to an offset in the current array, at most to its end, and returns how many files the bytes come from. */
    private int cutArray(long end) {
        int cut = index;
        int files = 0;
        Path last = null;
        if (!hasExtent()) {
            advance(end());
            return 1;
        }
        for (long limit = Math.min(end, end()); index == cut && offset < limit; ) {
            if (!extent().file().equals(last)) { // the other extents of a file cost little
                long page = ByteSums.roundUp(segmentPosition(), PageSize.HUGE_BYTES) - array().dataOffset();
                if (files == MOST_FILES || (files == MANY_FILES && page == offset)) {
                    break;
                }
                limit = files == MANY_FILES ? Math.min(limit, page) : limit;
                last = extent().file();
                files++;
            }
            advance(Math.min(limit - offset, extent().byteSize() - extentOffset));
        }
        return files;
    }

    private void advance(long bytes) {
        offset += bytes;
        extentOffset += bytes;
        if (extent != null && extentOffset == extent.byteSize()) {
            enterNextExtent();
        }
        if (offset == array().source().byteSize()) {
            enterArray(index + 1);
        }
    }

    private void enterArray(int next) {
        index = next;
        offset = 0;
        part = null;
        number = -1;
        extents = next == arrays.size() ? List.of() : array().source().extents();
        if (!isStream()) {
            enterNextExtent();
        }
    }

    /** Enters the next extent that has bytes. */
    private void enterNextExtent() {
        file = null;
        extentOffset = 0;
        do {
            number++;
            extent = number < extents.size() ? extents.get(number) : null;
        } while (extent != null && extent.byteSize() == 0);
        SourceArray source = array().source();
        if ((extent == null) != (offset == source.byteSize())) {
            throw new IllegalStateException("extents do not add up: array=" + source.name() + " bytes=" + offset
                    + " expected=" + source.byteSize());
        }
    }

    /** Returns whether memory for all bytes has been taken. */
    boolean isAtEnd() {
        return index == endIndex && offset == endOffset;
    }

    /** Returns whether the next bytes come from an extent. */
    boolean hasExtent() {
        return extent != null;
    }

    private boolean isStream() {
        return extents.isEmpty();
    }

    private SegmentArray array() {
        return arrays.get(index);
    }

    private Extent extent() {
        return Objects.requireNonNull(extent, "no extent");
    }

    private SegmentWriter writer() {
        return Objects.requireNonNull(writer, "not begun");
    }

    /** Returns the end of this stretch in the current array, as an offset. */
    private long end() {
        return index == endIndex ? endOffset : array().source().byteSize();
    }

    /** Returns the offset in the segment of the next byte of data. */
    long segmentPosition() {
        return array().dataOffset() + offset;
    }

    /** Returns the offset in the segment behind the last byte. */
    long segmentEnd() {
        return endOffset > 0
                ? arrays.get(endIndex).dataOffset() + endOffset
                : arrays.get(endIndex - 1).end();
    }

    /** Returns the file of the next bytes as the scan saw it. */
    SourceIdentity file() {
        if (file == null) {
            file = array().source().fileOf(number);
        }
        return file;
    }

    /** Returns the offset of the next bytes in that file. */
    long filePosition() {
        return extent().offset() + extentOffset;
    }

    /** Returns how many of the next bytes follow each other in that file. */
    long contiguousBytes() {
        return Math.min(end() - offset, extent().byteSize() - extentOffset);
    }

    /**
     * Starts to write. Several stretches of one thread share its buffer.
     *
     * @param which the number of this stretch, from 0
     * @param count how many stretches the thread writes together
     */
    void begin(int which, int count) {
        long start = offset == 0 ? array().headOffset() : segmentPosition();
        writer = segment.open().writer(start, segmentEnd(), which, count);
    }

    /** Returns whether {@link #take} keeps the memory that was taken before. */
    boolean hasRoom() {
        return writer().shows(segmentPosition());
    }

    /** Takes memory for the next bytes of an extent, at most {@code most}, and adds it to the memory that a read fills. */
    Piece take(long most, ScatterList read) {
        Part current = part();
        int currentExtent = number;
        long position = filePosition();
        ByteBuffer memory = writer().take(Math.min(most, contiguousBytes()), read);
        advance(memory.remaining());
        return new Piece(this, current, currentExtent, position, memory);
    }

    /** Copies an array that is a stream or empty. */
    void copyStream(LoadProgress progress) {
        Part current = part();
        SourceArray source = array().source();
        if (isStream()) {
            source.files().forEach(SourceIdentity::requireUnchanged);
            try (ReadableByteChannel data = source.openForLastTime()) {
                writer().copy(data, source.byteSize(), current.checksum(), progress::addBytes);
            } catch (IOException e) {
                throw array().unreadable(e);
            }
            source.files().forEach(SourceIdentity::requireUnchanged);
        }
        advance(source.byteSize());
    }

    /** Returns the part of the current array. The first call writes the header of an array that starts here. */
    private Part part() {
        if (part == null) {
            if (offset == 0) {
                writer().skipTo(array().headOffset());
                writer().put(array().head());
            }
            writer().skipTo(segmentPosition());
            part = new Part(array(), offset, end(), new CRC32C());
            parts.add(part);
        }
        return part;
    }

    /** Returns once all bytes are in the segment. */
    void finish() {
        writer().finish();
        segment.end(parts);
    }
}
