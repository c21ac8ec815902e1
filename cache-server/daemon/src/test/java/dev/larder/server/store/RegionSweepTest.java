package dev.larder.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.InterProcess;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.RegionRequest;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.server.store.space.Space;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When a region goes that nobody removes by its name; the clock is the test's. */
class RegionSweepTest {
    private static final Posix POSIX = Posix.system();
    private static final Duration GRACE = Duration.ofSeconds(10);

    @TempDir
    Path root;

    private final AtomicLong clockNs = new AtomicLong();
    private RegionFiles regions;

    @BeforeEach
    void open() throws IOException {
        regions = new RegionFiles(POSIX, new StoreLayout(root), clockNs::get);
        regions.open();
    }

    @AfterEach
    void close() {
        regions.close();
    }

    private RegionRow create(String name) {
        Space space = new Space(root, OptionalLong.of(1 << 20), 0);
        return regions.create(
                        new RegionRequest.Create(name, "test", 100_000),
                        1,
                        () -> space.newReservation((reservation, moreBytes) -> {}))
                .join();
    }

    /** Says, as a client does, that a process has a region; the descriptor's end says that it has not. */
    private int attach(RegionRow region) {
        int locks = POSIX.openForWriting(root.resolve("regions").resolve(RegionDescriptor.LOCKS_FILE));
        assertThat(InterProcess.system().tryLockRange(locks, region.id() + RegionDescriptor.ATTACHED_LOCK, 1, false))
                .isTrue();
        return locks;
    }

    private void sweepAfter(Duration time) throws IOException {
        clockNs.addAndGet(time.toNanos());
        regions.sweep();
    }

    @Test
    void aRegionStaysWhileAnyProcessHasItAndGoesAfterwards() throws IOException {
        RegionRow made = create("weights");
        int attached = attach(made);
        sweepAfter(GRACE.multipliedBy(100));
        assertThat(regions.list()).containsExactly(made);

        POSIX.close(attached);
        regions.sweep();

        assertThat(regions.list()).isEmpty();
        assertThat(made.file()).doesNotExist();
        assertThat(regions.byteSize()).isZero();
    }

    @Test
    void aRegionThatNobodyHasYetStaysForItsGrace() throws IOException {
        RegionRow made = create("weights");

        sweepAfter(GRACE.minusNanos(1));
        assertThat(regions.list()).containsExactly(made);
        sweepAfter(Duration.ofNanos(1));

        assertThat(regions.list()).isEmpty();
    }
}
