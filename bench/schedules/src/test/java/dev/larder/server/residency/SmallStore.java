package dev.larder.server.residency;

import static dev.larder.schedules.Race.require;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.store.IncomingSegment;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.SegmentWriter;
import dev.larder.server.store.Store;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/** A store without a daemon around it, with versions of one small array that can be put back as often as they are removed. */
final class SmallStore implements AutoCloseable {
    /** What one version occupies. */
    static final long VERSION_BYTES = 2 * 4096;

    private static final String FILE = "a.npy";
    private static final int LENGTH = (int) VERSION_BYTES - StoreLayout.DATA_START;
    private static final Provenance SOURCED =
            new Provenance(List.of("/nowhere/source.npy"), LoadOptions.none(), List.of(), 0);

    private final Store store;
    private final StoreLayout layout;

    /** Folders with the files of versions, by version. */
    private final Map<PublishedVersion, Path> copies = new HashMap<>();

    /** Opens one with room for so many versions. */
    SmallStore(Path root, int versions) {
        this.layout = new StoreLayout(root);
        this.store = Store.open(layout, OptionalLong.of(versions * VERSION_BYTES), Optional.empty());
    }

    Store store() {
        return store;
    }

    /** Returns an empty one, as of a daemon that has just started, whose clock stands still. */
    Residency newResidency() {
        return new Residency(store, () -> 1_000_000);
    }

    /** Publishes the first version of a dataset, and removes it again: {@link #restore} puts it back, which is quicker. */
    PublishedVersion prepare(String dataset) {
        Residency residency = newResidency();
        try (Reservation reservation = residency.reserve(VERSION_BYTES, () -> true);
                IncomingVersion incoming = store.newIncoming(dataset, SOURCED)) {
            ByteBuffer data = ByteBuffer.allocateDirect(LENGTH);
            CRC32C crc = new CRC32C();
            crc.update(data.duplicate());
            write(incoming, StoreLayout.header(NpyHeader.of(Dtype.parse("|u1"), Order.C, LENGTH)), data);
            incoming.add(new ArrayEntry(
                    "a", "|u1", 'C', new long[] {LENGTH}, FILE, StoreLayout.DATA_START, LENGTH, (int) crc.getValue()));
            PublishedVersion version =
                    residency.publish(List.of(incoming), reservation).get(0);
            Path copy = Files.createDirectory(layout.incoming().resolve("copy-of-" + dataset));
            link(version.folder(), copy);
            copies.put(version, copy);
            require(residency.tryEvict(version, true), "it cannot be evicted, though nobody leases it");
            return version;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(IncomingVersion version, ByteBuffer head, ByteBuffer data) {
        try (IncomingSegment segment = version.newSegment(FILE, VERSION_BYTES)) {
            SegmentWriter writer = segment.writer(0, VERSION_BYTES);
            writer.put(head);
            writer.put(data);
            writer.finish();
            segment.seal();
        }
    }

    private static void link(Path from, Path to) throws IOException {
        for (String file : List.of(FILE, StoreLayout.INDEX, StoreLayout.MANIFEST)) {
            Files.createLink(to.resolve(file), from.resolve(file));
        }
    }

    /** Puts a version back that is not in the store, and makes it current. */
    void restore(PublishedVersion version, Residency residency) throws IOException {
        Path folder = version.folder();
        Files.createDirectories(folder);
        link(copies.getOrDefault(version, folder), folder);
        Files.createFile(folder.resolve(StoreLayout.LEASE)); // a link would not show that it was unlinked
        Files.createSymbolicLink(layout.current(version.dataset()), Path.of(Long.toString(version.version())));
        residency.makeCurrent(version);
    }

    /** Returns whether every file of a version is in its place. */
    boolean isWhole(PublishedVersion version) {
        return store.missingFiles(version).isEmpty();
    }

    /** Fails unless a version is current with all its files, or gone with a record of its source. */
    void requireInOrder(PublishedVersion version, Residency residency) throws IOException {
        String dataset = version.dataset();
        boolean isCurrent = residency.find(dataset).isPresent();
        boolean isLinked = Files.exists(layout.current(dataset), LinkOption.NOFOLLOW_LINKS);
        boolean isRecorded = Files.exists(layout.registered(dataset));
        require(isCurrent == isWhole(version), "its files are not those of a version that counts: " + isCurrent);
        require(isCurrent == isLinked, "clients find it though it does not count, or do not find it: " + isLinked);
        require(isCurrent != residency.registration(dataset).isPresent(), "its source is unknown");
        require(isCurrent != isRecorded, "the record of its source is missing, or one too many: " + isRecorded);
        require(residency.retired().isEmpty(), "it counts as retired");
        require(residency.freeingBytes() == 0, "it counts as being freed");
    }

    /** Removes what is left of a version, its record too. */
    void clear(PublishedVersion version, Residency residency) throws IOException {
        if (residency.find(version.dataset()).isPresent()) {
            require(residency.tryEvict(version, true), "it cannot be evicted, though nobody leases it");
        } else {
            residency.evict(version.dataset(), true);
        }
        require(!Files.exists(layout.dataset(version.dataset())), "something is left of it");
    }

    @Override
    public void close() {
        try (Stream<Path> left = Files.list(layout.incoming())) {
            require(left.count() == copies.size(), "removed versions are left");
            store.removeAll(List.of());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
