package dev.larder.server.ingest;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import dev.larder.server.source.FileRegion;
import dev.larder.server.source.SourceIdentity;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive bytes of an array, with the extents that they come from, or a stream. Walks from its first byte to its last. Belongs to
 * one thread at a time.
 */
final class Stretch {
    /** After this many files, a stretch ends at the next huge page. */
    static final int MANY_FILES = 256;

    /** After this many files, a stretch ends anywhere. */
    private static final int MOST_FILES = 4096;

    private final SegmentArray array;
    private final List<FileRegion> extents;
    private final CRC32C crc = new CRC32C();
    private long start;
    private long position;
    private long end;
    private int fileCount = 1;
    private int number = -1;
    private @Nullable FileRegion extent;
    private @Nullable SourceIdentity file;
    private long extentOffset;

    /** Starts with all bytes of an array. */
    Stretch(SegmentArray array) {
        this.array = array;
        this.extents = array.source().extents();
        this.end = array.source().byteSize();
        if (!isStream()) {
            enterNextExtent();
        }
    }

    private Stretch(Stretch other) {
        array = other.array;
        extents = other.extents;
        start = other.position;
        position = other.position;
        end = other.end;
        number = other.number;
        extent = other.extent;
        extentOffset = other.extentOffset;
    }

    /** Cuts off the first bytes, at most {@code most}, and fewer if they come from many files. A stream is cut off whole. */
    Stretch cut(long most) {
        Stretch front = new Stretch(this);
        if (isStream()) {
            position = end;
        } else {
            front.fileCount = walk(Math.min(end - position, most));
        }
        front.end = position;
        start = position;
        return front;
    }

    private int walk(long most) {
        int files = 0;
        Path last = null;
        long limit = position + most;
        while (position < limit) {
            FileRegion from = extent();
            if (!from.file().equals(last)) { // the other extents of a file cost little
                long pageEnd = ByteSums.roundUp(segmentPosition(), PageSize.HUGE_BYTES) - array.dataOffset();
                if (files == MOST_FILES || (files == MANY_FILES && pageEnd == position)) {
                    break;
                }
                limit = files == MANY_FILES ? Math.min(limit, pageEnd) : limit;
                last = from.file();
                files++;
            }
            advance(Math.min(limit - position, contiguousBytes()));
        }
        return Math.max(1, files);
    }

    /** Moves past bytes of one extent. */
    void advance(long bytes) {
        position += bytes;
        extentOffset += bytes;
        if (extentOffset == extent().byteSize()) {
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
        if ((extent == null) != (position == array.source().byteSize())) {
            throw new IllegalStateException("extents do not add up: array="
                    + array.source().name() + " bytes=" + position + " expected="
                    + array.source().byteSize());
        }
    }

    private FileRegion extent() {
        return Objects.requireNonNull(extent, "at the end");
    }

    SegmentArray array() {
        return array;
    }

    boolean isStream() {
        return extents.isEmpty();
    }

    /** Returns whether it is at its end. */
    boolean isAtEnd() {
        return position == end;
    }

    /** Returns whether it is at the first byte of its array. */
    boolean isAtHead() {
        return position == 0;
    }

    long byteSize() {
        return end - start;
    }

    /** Returns where it ends in its array. */
    long end() {
        return end;
    }

    /** Returns where it starts in the segment, including the header of an array that starts with it. */
    long segmentStart() {
        return start == 0 ? array.headOffset() : array.dataOffset() + start;
    }

    /** Returns where its next byte belongs in the segment. */
    long segmentPosition() {
        return array.dataOffset() + position;
    }

    long segmentEnd() {
        return array.dataOffset() + end;
    }

    /** Returns how many files it is read from, at least 1. */
    int fileCount() {
        return fileCount;
    }

    /** Returns the file of its next byte as the scan saw it. */
    SourceIdentity file() {
        if (file == null) {
            file = array.identityOf(number, extent());
        }
        return file;
    }

    /** Returns where in that file its next byte is. */
    long filePosition() {
        return extent().offset() + extentOffset;
    }

    /** Returns how many of its next bytes follow each other in that file. */
    long contiguousBytes() {
        return Math.min(end - position, extent().byteSize() - extentOffset);
    }

    /** Returns the number of the extent of its next byte. */
    int extentNumber() {
        return number;
    }

    /** Returns the checksum, to be updated with its bytes in their order. */
    CRC32C checksum() {
        return crc;
    }

    int crc32c() {
        return (int) crc.getValue();
    }
}
