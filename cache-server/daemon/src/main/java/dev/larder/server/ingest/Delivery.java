package dev.larder.server.ingest;

import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.source.DeliveredData;
import dev.larder.server.source.Extents;
import dev.larder.server.source.FileRegion;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.space.Reservation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What becomes of the arrays of one dataset: most are copied from their sources; what a reader has written as the store would have is
 * taken over, as from a client that builds a dataset.
 *
 * @param copied where everything goes that is copied
 * @param moved the files that are taken over
 */
record Delivery(LoadPlan copied, List<SourceArray> moved) {
    /** Returns how many bytes of arrays readers write. */
    static long byteSize(List<SourceArray> arrays) {
        return ByteSums.sum(arrays.stream()
                .filter(array -> array.data() instanceof DeliveredData)
                .mapToLong(SourceArray::byteSize));
    }

    /** Has readers write their arrays. The reservation has room for every array once, and grows by what is copied of these. */
    static Delivery of(
            List<SourceArray> arrays, LoadPlan plan, PackRule packs, Reservation reservation, LoadProgress progress) {
        if (arrays.stream().noneMatch(array -> array.data() instanceof DeliveredData)) {
            return new Delivery(plan, List.of());
        }
        List<SourceArray> all = new ArrayList<>();
        Set<ArrayName> written = new HashSet<>();
        for (SourceArray array : arrays) {
            SourceArray delivered = delivered(array, progress);
            all.add(delivered);
            if (array.data() instanceof DeliveredData) {
                written.add(array.name());
            }
        }
        Predicate<SourceArray> isWritten = array -> written.contains(array.name());
        Predicate<SourceArray> isMoved =
                packs.packed(all).negate().and(isWritten).and(array -> StoredAsIs.fits(array, folder(array)));
        List<SourceArray> copied = all.stream().filter(isMoved.negate()).toList();
        List<SourceArray> twice = copied.stream().filter(isWritten).toList();
        reservation.grow(LoadPlan.of(twice, packs).storedBytes());
        return new Delivery(
                LoadPlan.of(copied, packs), all.stream().filter(isMoved).toList());
    }

    private static Path folder(SourceArray array) {
        return Objects.requireNonNull(array.file().getParent());
    }

    private static SourceArray delivered(SourceArray array, LoadProgress progress) {
        if (!(array.data() instanceof DeliveredData data)) {
            return array;
        }
        SourceIdentity file = data.deliver(bytes -> {}, progress::addBytes);
        long offset = StoreLayout.header(array.header()).remaining();
        Extents written = Extents.of(new FileRegion(file.file(), offset, array.byteSize()));
        return new SourceArray(array.name(), array.header(), written, List.of(file), array.part());
    }

    /** Takes the files over, and returns those that somebody can still write to: they have to be copied. */
    List<SourceArray> moveTo(IncomingVersion version, LoadProgress progress) {
        List<SourceArray> stillWritten = new ArrayList<>();
        for (SourceArray array : moved) {
            if (!StoredAsIs.move(array, version, progress)) {
                stillWritten.add(array);
            }
        }
        return stillWritten;
    }
}
