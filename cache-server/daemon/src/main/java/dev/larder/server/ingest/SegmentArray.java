package dev.larder.server.ingest;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.npy.NpyHeader;
import dev.larder.server.source.Extents;
import dev.larder.server.source.FileRegion;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An array and its place in a segment. Joins the checksums of its stretches while threads copy them. Thread-safe. */
final class SegmentArray {
    private final SourceArray source;
    private final long headOffset;
    private final long dataOffset;
    private final @Nullable ByteBuffer sharedHead;
    private @Nullable Map<Path, SourceIdentity> identities;
    private long bytesLeft;
    private int crc32c;

    /**
     * Places an array.
     *
     * @param headOffset where its {@code .npy} header starts
     * @param dataOffset where its data starts, right after the header
     * @param sharedHead the bytes of the header if other arrays have the same; null to make them when they are needed
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

    /** Returns the bytes of the header. */
    ByteBuffer head() {
        return sharedHead == null ? source.header().encode((int) (dataOffset - headOffset)) : sharedHead.duplicate();
    }

    /** Returns the file of an extent as the scan saw it. */
    SourceIdentity identityOf(int number, FileRegion extent) {
        SourceIdentity known = source.data() instanceof Extents extents ? extents.file(number) : null;
        if (known != null) {
            return known;
        }
        SourceIdentity first = source.files().get(0);
        return source.files().size() == 1
                ? first
                : identities().getOrDefault(extent.file().toAbsolutePath(), first);
    }

    private synchronized Map<Path, SourceIdentity> identities() {
        if (identities == null) {
            Map<Path, SourceIdentity> files = new HashMap<>();
            source.files().forEach(file -> files.put(file.file(), file));
            identities = files;
        }
        return identities;
    }

    /** Adds a stretch that is in the segment. Returns true once, when all bytes are there. */
    synchronized boolean add(Stretch stretch) {
        crc32c ^= Crc32cSum.followedBy(
                stretch.crc32c(), source.byteSize() - stretch.end()); // in any order: a CRC is linear
        bytesLeft -= stretch.byteSize();
        return bytesLeft == 0;
    }

    /** Returns the entry of the array for the index, once all bytes are there. */
    synchronized ArrayEntry entry(String file) {
        NpyHeader header = source.header();
        return new ArrayEntry(
                source.name().array(),
                header.dtype().descr(),
                header.order().name().charAt(0),
                header.shape(),
                file,
                dataOffset,
                header.byteSize(),
                crc32c,
                source.part());
    }
}
