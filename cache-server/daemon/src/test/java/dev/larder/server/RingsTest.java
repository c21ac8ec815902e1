package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.CleanUp;
import dev.larder.server.store.Leftovers;
import dev.larder.server.store.StoreReport;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a daemon does about the rings that others make in its store. */
class RingsTest {
    private static final Posix POSIX = Posix.system();
    private static final int RING_BYTES = 100_000;
    private static final long STORED_BYTES = 25 * 4096;
    private static final long LENGTH = 16L << 30;

    private final ServedStore served = ServedStore.create();

    @AfterEach
    void close() {
        served.close();
    }

    @Test
    void aRingGoesSoonAfterItsProducerDied() throws IOException {
        served.start();
        Path ring = served.layout().ring("run1");
        int lock = publish(served.layout(), "run1");
        await().until(() -> served.control().status().usedBytes() == STORED_BYTES);
        assertThat(ring).exists();

        POSIX.close(lock);

        await().until(() -> Files.notExists(ring) && served.control().status().usedBytes() == 0);
    }

    /** Makes what a producer makes, and returns the descriptor whose lock says that it lives. */
    private static int publish(StoreLayout layout, String name) throws IOException {
        Path folder = Files.createDirectories(layout.ring(name));
        int lock = POSIX.openOrCreate(folder.resolve(RingDescriptor.PRODUCER_LOCK), 0600);
        assertThat(POSIX.tryLockExclusive(lock)).isTrue();
        Path ring = folder.resolve(RingDescriptor.RING);
        Files.write(ring, new byte[RING_BYTES]);
        try (RandomAccessFile file = new RandomAccessFile(ring.toFile(), "rw")) {
            file.setLength(LENGTH); // slots are mostly holes
        }
        return lock;
    }

    @Test
    void whatDeadProducersLeftIsRemovedAtStartAndTheLivingStay() throws IOException {
        served.startProcess().kill();
        POSIX.close(publish(served.layout(), "dead"));
        int lock = publish(served.layout(), "living");
        Files.createDirectories(served.layout().ring("half-made"));
        Files.writeString(served.layout().ring("stray"), "what is this?");
        Files.createSymbolicLink(served.layout().ring("link"), served.layout().ring("living"));

        served.start();

        assertThat(ServedStore.entries(served.layout().rings())).containsExactly("living");
        POSIX.close(lock);
    }

    @Test
    void aRingThatIsBeingMadeIsLeftAlone() throws IOException {
        served.startProcess().kill();
        int gate = POSIX.openForReading(served.layout().rings());
        assertThat(POSIX.tryLockExclusive(gate)).isTrue();
        Path ring = Files.createDirectories(served.layout().ring("run1"));

        served.start();

        assertThat(ring).exists();
        POSIX.close(gate);
        await().until(() -> Files.notExists(ring));
    }

    @Test
    void ringsGoWithTheStoreAndCountAsHeldWhileTheirProducersLive() throws IOException {
        Daemon daemon = served.start();
        int lock = publish(served.layout(), "run1");
        await().until(() -> served.control().status().usedBytes() == STORED_BYTES);

        CleanUp cleanUp = daemon.stop(false);

        assertThat(cleanUp.heldUntilExitBytes()).isEqualTo(STORED_BYTES);
        assertThat(cleanUp.bytes()).isLessThan(LENGTH);
        assertThat(served.root()).doesNotExist();
        POSIX.close(lock);
    }

    @Test
    void ringsInTheStoreOfADeadDaemonGoWithIt() throws IOException {
        served.startProcess().kill();
        int lock = publish(served.layout(), "run1");

        StoreReport removed = Leftovers.remove(served.root(), false).orElseThrow();

        assertThat(removed.state()).isEqualTo(StoreReport.State.REMOVED);
        assertThat(removed.heldUntilExitBytes()).isEqualTo(STORED_BYTES);
        assertThat(served.root()).doesNotExist();
        POSIX.close(lock);
    }
}
