package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.server.source.SourceArray;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** An array and its place in a segment. Joins the checksums of its stretches while threads copy them. Thread-safe. */
final class SegmentArray {
    private final SourceArray source;
    private final long headOffset;
    private final long dataOffset;
    private final @Nullable ByteBuffer sharedHead;
    private long bytesLeft;
    private int crc32c;

    /**
     * Places an array.
     *
     * @param headOffset the offset of its {@code .npy} header
     * @param dataOffset the offset of its data, right after the header
     * @param sharedHead the bytes of the header if other arrays have the same; null to encode them when they are needed
     */
    SegmentArray(SourceArray source, long headOffset, long dataOffset, @Nullable ByteBuffer sharedHead) {
        this.source = source;
        this.headOffset = headOffset;
        this.dataOffset = dataOffset;
        this.sharedHead = sharedHead;
        this.bytesLeft = source.byteSize();
    }

    SourceArray source() {
        return source;
    }

    long headOffset() {
        return headOffset;
    }

    long dataOffset() {
        return dataOffset;
    }

    long end() {
        return dataOffset + source.byteSize();
    }

    /** Returns the bytes of the header. */
    ByteBuffer head() {
        return sharedHead == null ? source.header().encode((int) (dataOffset - headOffset)) : sharedHead.duplicate();
    }

    /** Adds a part that is in the segment. Returns true once, when all bytes are there. */
    synchronized boolean add(SegmentStretch.Part part) {
        int crc = (int) part.checksum().getValue();
        crc32c ^= Crc32cSum.followedBy(crc, source.byteSize() - part.end()); // in any order: a CRC is linear
        bytesLeft -= part.end() - part.start();
        return bytesLeft == 0;
    }

    LarderException unreadable(IOException reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot copy array")
                .with("array", source.name())
                .with("file", source.file())
                .with("reason", reason)
                .cause(reason)
                .remedy("check the file and its disk");
    }

    /** Returns the entry of the array for the index, once all bytes are there. */
    synchronized ArrayEntry entry(String file) {
        return source.entry(file, dataOffset, crc32c);
    }
}
