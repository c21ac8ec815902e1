package dev.larder.server.ingest;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.NpyHeader;
import dev.larder.server.ingest.LoadPlan.Segment;
import dev.larder.server.source.SourceArray;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * Places small arrays back to back in packs, in their order. Each is a complete {@code .npy} image at a multiple of {@link
 * StoreLayout#PACK_ALIGNMENT}.
 */
final class Packing {
    /** Thousands of arrays usually have few different headers. If they have more, storing all would cost more than it saves. */
    private static final int SHARED_HEADS = 4096;

    /** A scan represents equal headers by one object. */
    private final IdentityHashMap<NpyHeader, ByteBuffer> heads = new IdentityHashMap<>();

    private final List<Segment> packs = new ArrayList<>();
    private List<SegmentArray> arrays = new ArrayList<>();
    private long end;

    private Packing() {}

    static List<Segment> of(List<SourceArray> arrays, PackRule rule) {
        Packing packing = new Packing();
        long all = ByteSums.sum(arrays.stream().mapToLong(packing::imageBytes));
        long packBytes = rule.packBytes(all);
        for (SourceArray array : arrays) {
            if (packing.end > 0 && packing.end + packing.imageBytes(array) > packBytes) {
                packing.endPack();
            }
            packing.add(array);
        }
        packing.endPack();
        return packing.packs;
    }

    private void add(SourceArray array) {
        long head = aligned(end);
        long data = head + head(array.header()).remaining();
        arrays.add(new SegmentArray(array, head, data, heads.get(array.header())));
        end = data + array.byteSize();
    }

    private void endPack() {
        if (!arrays.isEmpty()) {
            packs.add(new Segment(StoreLayout.packFile(packs.size()), end, arrays));
            arrays = new ArrayList<>();
            end = 0;
        }
    }

    private long imageBytes(SourceArray array) {
        return aligned(ByteSums.add(head(array.header()).remaining(), array.byteSize()));
    }

    private ByteBuffer head(NpyHeader header) {
        ByteBuffer known = heads.get(header);
        if (known != null) {
            return known;
        }
        ByteBuffer head = header.encode(StoreLayout.PACK_ALIGNMENT);
        if (heads.size() < SHARED_HEADS) {
            heads.put(header, head);
        }
        return head;
    }

    private static long aligned(long offset) {
        return ByteSums.roundUp(offset, StoreLayout.PACK_ALIGNMENT);
    }
}
