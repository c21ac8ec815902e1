package dev.larder.server.ingest;

import dev.larder.internal.layout.ByteSums;
import dev.larder.server.reader.ReaderData;
import dev.larder.server.source.Extents;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.space.Reservation;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * Divides the arrays of one dataset into those that are copied, usually most, and those that are moved. A file is moved if it was written
 * for this load in the format of a segment, like a file of a client's build.
 *
 * @param copied the place of each copied array
 * @param moved the arrays of the moved files
 */
record TransferPlan(LoadPlan copied, List<SourceArray> moved) {
    /** Returns how many bytes readers write. */
    static long byteSize(List<SourceArray> arrays) {
        return ByteSums.sum(arrays.stream()
                .filter(array -> array.data() instanceof ReaderData)
                .mapToLong(SourceArray::byteSize));
    }

    /**
     * Lets readers write their arrays. The reservation has space for every array once; it grows by the arrays that are written and then
     * copied.
     */
    static TransferPlan of(
            List<SourceArray> arrays, LoadPlan plan, PackRule packs, Reservation reservation, LoadProgress progress) {
        List<SourceArray> all =
                arrays.stream().map(array -> delivered(array, progress)).toList();
        if (all.stream().noneMatch(TransferPlan::isWritten)) {
            return new TransferPlan(plan, List.of());
        }
        Predicate<SourceArray> isMoved = packs.packed(all)
                .negate()
                .and(TransferPlan::isWritten)
                .and(array -> MovableFiles.fits(array, folder(array)));
        List<SourceArray> copied = all.stream().filter(isMoved.negate()).toList();
        List<SourceArray> twice =
                copied.stream().filter(TransferPlan::isWritten).toList();
        reservation.grow(LoadPlan.of(twice, packs).storedBytes());
        return new TransferPlan(
                LoadPlan.of(copied, packs), all.stream().filter(isMoved).toList());
    }

    private static Path folder(SourceArray array) {
        return Objects.requireNonNull(array.file().getParent());
    }

    private static boolean isWritten(SourceArray array) {
        return array.data() instanceof Extents extents && extents.isOwn();
    }

    private static SourceArray delivered(SourceArray array, LoadProgress progress) {
        if (!(array.data() instanceof ReaderData data)) {
            if (isWritten(array)) {
                array.files().forEach(SourceIdentity::requireUnchanged);
            }
            return array;
        }
        SourceIdentity file = data.deliver(bytes -> {}, progress::addBytes);
        return new SourceArray(
                array.name(), array.header(), Extents.of(data.region(file)).own(), List.of(file), array.part());
    }

    /** Moves files. Returns the plan for the arrays to copy, which include those of files that a process can still write to. */
    LoadPlan moveTo(IncomingVersion version, PackRule packs, Reservation reservation, LoadProgress progress) {
        List<SourceArray> stillWritten = MovableFiles.moveAll(moved, version, progress);
        if (stillWritten.isEmpty()) {
            return copied;
        }
        reservation.grow(LoadPlan.of(stillWritten, packs).storedBytes());
        return copied.with(stillWritten, packs);
    }
}
