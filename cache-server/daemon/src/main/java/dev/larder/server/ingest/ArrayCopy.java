package dev.larder.server.ingest;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.npy.NpyHeader;
import dev.larder.server.ingest.LoadPlan.Placement;
import dev.larder.server.source.FileRegion;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** One array on its way: puts together what several threads know of it. Thread-safe. */
final class ArrayCopy {
    private final Placement placement;
    private final Map<Path, SourceIdentity> identities = new HashMap<>();
    private final TreeMap<Long, Sum> sums = new TreeMap<>();
    private long bytesLeft;

    private record Sum(long byteSize, int crc32c) {}

    ArrayCopy(Placement placement) {
        this.placement = placement;
        this.bytesLeft = placement.array().byteSize();
        if (placement.array().files().size() > 1 && placement.array().data().identityOf(0) == null) {
            placement.array().files().forEach(file -> identities.put(file.file(), file));
        }
    }

    Placement placement() {
        return placement;
    }

    SourceArray array() {
        return placement.array();
    }

    /** Returns what the file of a region looked like when it was scanned. */
    SourceIdentity identityOf(int number, FileRegion region) {
        SourceIdentity known = array().data().identityOf(number);
        if (known != null) {
            return known;
        }
        SourceIdentity identity = identities.get(region.file().toAbsolutePath());
        return identity == null ? array().files().get(0) : identity;
    }

    /** Notes a stretch that is written; true once, when nothing is missing any more. */
    synchronized boolean add(long offset, long byteSize, int crc32c) {
        sums.put(offset, new Sum(byteSize, crc32c));
        bytesLeft -= byteSize;
        return bytesLeft == 0;
    }

    private synchronized int crc32c() {
        int crc = 0;
        for (Sum sum : sums.values()) {
            crc = crc == 0 && sums.size() == 1 ? sum.crc32c() : Crc32cSum.of(crc, sum.crc32c(), sum.byteSize());
        }
        return crc;
    }

    /** Describes the array in a segment, once it is whole. */
    ArrayEntry entry(String file) {
        NpyHeader header = array().header();
        return new ArrayEntry(
                array().name().array(),
                header.dtype().descr(),
                header.order().name().charAt(0),
                header.shape(),
                file,
                placement.dataOffset(),
                header.byteSize(),
                crc32c(),
                array().part());
    }
}
