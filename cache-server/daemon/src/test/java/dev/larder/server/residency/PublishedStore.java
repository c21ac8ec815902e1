package dev.larder.server.residency;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.catalog.CatalogEntry;
import dev.larder.server.store.IncomingSegment;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.SegmentWriter;
import dev.larder.server.store.Store;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.zip.CRC32C;

/** A store with versions in it and no daemon around it, whose clock the test sets. */
public final class PublishedStore implements AutoCloseable {
    /** What one version of {@link #publish} occupies. */
    public static final long VERSION_BYTES = 16 * 4096;

    private static final String FILE = "a.npy";

    private final StoreLayout layout;
    private final Store store;
    private final Residency residency;
    private volatile long nowMs = 1_000_000;
    private volatile Runnable onClock = () -> {};

    private PublishedStore(Path root, long capacityBytes) {
        this.layout = new StoreLayout(root);
        this.store = Store.open(layout, OptionalLong.of(capacityBytes), Optional.empty());
        this.residency = new Residency(store, this::now);
    }

    /** Makes one with room for so many versions. */
    public static PublishedStore withRoomFor(int versions) {
        return new PublishedStore(LeavesNothingBehind.newFolder(), versions * VERSION_BYTES);
    }

    /** Returns another one over the same store, as a daemon has that starts after an unclean stop. */
    public Residency adoptAnew() {
        return adoptAnew(List.of());
    }

    /** Returns another one over the same store, as a daemon has that starts after a stop in order. */
    Residency adoptAnew(List<CatalogEntry> lastUses) {
        Residency again = new Residency(store, this::now);
        try {
            again.adopt(() -> false, lastUses, (folder, reason) -> {});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return again;
    }

    /** Puts a version where a start after a reboot puts it, for {@link #adoptAnew} to find. */
    public void holdBack(PublishedVersion version) {
        Path folder = version.folder();
        try {
            Files.move(folder, folder.resolveSibling(folder.getFileName() + ".unverified"));
            Files.delete(layout.current(version.dataset()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long now() {
        onClock.run();
        return nowMs;
    }

    /** Sets the time. */
    public void setNow(long epochMs) {
        nowMs = epochMs;
    }

    /** Has something happen whenever somebody asks for the time. */
    public void whenAskedForTime(Runnable action) {
        onClock = action;
    }

    public Store store() {
        return store;
    }

    public Residency residency() {
        return residency;
    }

    public StoreLayout layout() {
        return layout;
    }

    /** Returns what holds for a version that can be loaded again. */
    public static Provenance sourced(long ttlMs) {
        return new Provenance(List.of("/nowhere/source.npy"), LoadOptions.none(), List.of(), ttlMs);
    }

    /** Publishes a version of one array. */
    public PublishedVersion publish(String dataset, Provenance provenance) {
        return publish(residency, dataset, provenance);
    }

    /** Publishes a version of one array by way of what {@link #adoptAnew} returned. */
    public PublishedVersion publish(Residency by, String dataset, Provenance provenance) {
        int length = (int) VERSION_BYTES - StoreLayout.DATA_START;
        NpyHeader header = NpyHeader.of(Dtype.parse("|u1"), Order.C, length);
        ByteBuffer data = ByteBuffer.allocateDirect(length);
        CRC32C crc = new CRC32C();
        crc.update(data.duplicate());
        try (Reservation reservation = by.reserve(0, () -> true);
                IncomingVersion version = store.newIncoming(dataset, provenance)) {
            write(version, StoreLayout.header(header), data);
            version.add(new ArrayEntry(
                    "a", "|u1", 'C', new long[] {length}, FILE, StoreLayout.DATA_START, length, (int) crc.getValue()));
            return by.publish(List.of(version), reservation).get(0);
        }
    }

    private static void write(IncomingVersion version, ByteBuffer head, ByteBuffer data) {
        long length = (long) head.remaining() + data.remaining();
        try (IncomingSegment segment = version.newSegment(FILE, length)) {
            SegmentWriter writer = segment.writer(0, length);
            writer.put(head);
            writer.put(data);
            writer.finish();
            segment.seal();
        }
    }

    @Override
    public void close() {
        onClock = () -> {};
        try {
            store.removeAll(residency.all());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
