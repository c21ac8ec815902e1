package dev.larder.server.ingest;

import dev.larder.server.ingest.Portions.Portion;
import dev.larder.server.source.FileRegion;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.store.SegmentWriter;
import java.util.zip.CRC32C;

/** Stretches of files on their way into a segment: where the next bytes lie, and the checksum of those before. Belongs to one thread. */
final class PortionCopy {
    private final Portion portion;
    private final SegmentWriter writer;
    private final CRC32C crc = new CRC32C();
    private int number;
    private FileRegion region;
    private SourceIdentity file;
    private long regionOffset;
    private long left;

    /** Starts where a writer stands. */
    PortionCopy(Portion portion, SegmentWriter writer) {
        this.portion = portion;
        this.writer = writer;
        this.number = portion.firstRegion();
        this.region = portion.regions().get(number);
        this.file = portion.copy().identityOf(number, region);
        this.regionOffset = portion.regionOffset();
        this.left = portion.byteSize();
    }

    /** Tells whether memory for all bytes was taken. */
    boolean isTaken() {
        return left == 0;
    }

    /** Returns the file that the next bytes lie in, as it was when it was scanned. */
    SourceIdentity file() {
        return file;
    }

    /** Returns where in that file they lie. */
    long position() {
        return region.offset() + regionOffset;
    }

    /** Returns how many of them follow each other there. */
    long contiguousBytes() {
        return Math.min(left, region.byteSize() - regionOffset);
    }

    /** Tells whether the next step gives up the memory of those before. */
    boolean isRoomUsedUp() {
        return writer.isRoomUsedUp();
    }

    /** Takes memory for the next bytes, at most so many that follow each other, and goes on to those behind. */
    Piece take(long most) {
        SegmentWriter.Room room = writer.take(Math.min(most, contiguousBytes()));
        Piece piece = new Piece(this, number, position(), room.bytes().remaining(), room);
        left -= piece.byteSize();
        regionOffset += piece.byteSize();
        if (regionOffset == region.byteSize() && left > 0) {
            number++;
            region = portion.regions().get(number);
            file = portion.copy().identityOf(number, region);
            regionOffset = 0;
        }
        return piece;
    }

    /**
     * Bytes that one read brings.
     *
     * @param region the number of the region that they are of
     * @param position where in its file they begin
     */
    record Piece(PortionCopy owner, int region, long position, int byteSize, SegmentWriter.Room room) {
        /** Adds what was read to the checksum; pieces come in the order in which they were taken. */
        void addToChecksum() {
            owner.crc.update(room.bytes());
        }

        /** Fails with a refusal where it is the beginning of a file that has to begin in another way. */
        void requireBeginning(long read) {
            if (position == 0 && read > 0) {
                int shown = (int) Math.min(read, byteSize);
                owner.array().data().requireBeginning(region, room.bytes().slice(0, shown));
            }
        }
    }

    SourceArray array() {
        return portion.copy().array();
    }

    int crc32c() {
        return (int) crc.getValue();
    }
}
