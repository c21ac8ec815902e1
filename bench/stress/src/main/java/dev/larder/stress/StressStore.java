package dev.larder.stress;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.store.IncomingSegment;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.RemovalReason;
import dev.larder.server.store.SegmentWriter;
import dev.larder.server.store.Store;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;

/** A daemon's own store without the daemon around it, for one process; it goes with the process. */
final class StressStore {
    static final String ARRAY = "a";
    static final String FILE = "a.npy";
    private static final String PREFIX = "larder-stress-";

    private final Store store;
    private final Larder larder;
    private final AtomicLong numbers = new AtomicLong();
    private final Deque<PublishedVersion> replaced = new ArrayDeque<>();

    private StressStore(Path root) {
        this.store = Store.open(new StoreLayout(root), OptionalLong.of(1L << 30), Optional.empty());
        this.larder = Larder.connect(root);
    }

    static StressStore create() {
        try {
            Path root = Files.createTempDirectory(Path.of("/dev/shm"), PREFIX);
            StressStore made = new StressStore(root);
            Runtime.getRuntime().addShutdownHook(new Thread(made::remove));
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Larder larder() {
        return larder;
    }

    Dataset open(String dataset) {
        return larder.dataset(dataset);
    }

    /** Publishes an array of this many integers, each equal to the number of the version. */
    PublishedVersion publish(String dataset, int integers) {
        long number = numbers.incrementAndGet();
        NpyHeader header = NpyHeader.of(Dtype.parse("<i4"), Order.C, integers);
        ByteBuffer head = StoreLayout.header(header);
        ByteBuffer data = ByteBuffer.allocateDirect(integers * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        while (data.hasRemaining()) {
            data.putInt((int) number);
        }
        CRC32C crc = new CRC32C();
        crc.update(data.flip());
        int offset = head.remaining();
        try (Reservation unlimited = store.newReservation((reservation, moreBytes) -> {});
                IncomingVersion version = store.newIncoming(dataset, Provenance.computed(0))) {
            write(version, head, data.flip());
            version.add(new ArrayEntry(
                    ARRAY, "<i4", 'C', new long[] {integers}, FILE, offset, header.byteSize(), (int) crc.getValue()));
            return store.publish(List.of(version), unlimited, (name, digest) -> number, 0)
                    .get(0);
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

    /** Publishes the next version, and removes earlier ones without readers. */
    synchronized long replace(String dataset, int integers) {
        PublishedVersion next = publish(dataset, integers);
        for (int old = replaced.size(); old > 0; old--) {
            PublishedVersion version = replaced.remove();
            if (!remove(version)) {
                replaced.add(version);
            }
        }
        replaced.add(next);
        return next.version();
    }

    boolean remove(PublishedVersion version) {
        return store.removeUnleased(version, RemovalReason.FORGOTTEN, () -> {});
    }

    boolean isLeased(PublishedVersion version) {
        return store.leases().isLeased(version.folder());
    }

    /** Returns whether every element is this number. */
    static boolean isAll(ArrayView view, int number) {
        for (long i = 0; i < view.shape()[0]; i++) {
            if (view.getInt(i) != number) {
                return false;
            }
        }
        return true;
    }

    private void remove() {
        try {
            larder.close();
            store.removeAll(List.of());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
