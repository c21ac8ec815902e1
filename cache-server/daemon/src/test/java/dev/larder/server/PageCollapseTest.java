package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.server.store.VersionPages;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PageCollapseTest {
    private static final Duration SOON = Duration.ofMillis(5);
    private static final Duration NEVER = Duration.ofHours(9);

    private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1);
    private final List<PublishedVersion> versions = new CopyOnWriteArrayList<>();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private final AtomicBoolean mayMove = new AtomicBoolean(true);

    PageCollapseTest() {
        thread.setRemoveOnCancelPolicy(true);
    }

    @AfterEach
    void end() throws InterruptedException {
        thread.shutdownNow();
        assertThat(thread.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }

    /** Pieces of which the kernel refuses some. */
    private static final class FakePages implements VersionPages {
        final List<Long> asked = new CopyOnWriteArrayList<>();
        final Set<Long> refused = ConcurrentHashMap.newKeySet();
        private final long count;
        private final long huge;

        FakePages(long count) {
            this(count, 0);
        }

        FakePages(long count, long huge) {
            this.count = count;
            this.huge = huge;
        }

        @Override
        public long pieces() {
            return count;
        }

        @Override
        public long hugePieces(BooleanSupplier mayGoOn) {
            return huge;
        }

        @Override
        public boolean collapse(long piece) {
            asked.add(piece);
            return !refused.contains(piece);
        }
    }

    private static PublishedVersion version(String dataset) {
        Provenance computed = new Provenance(List.of(), LoadOptions.none(), List.of(), 0);
        return new PublishedVersion(dataset, 1, Path.of("/store", dataset), "", 0, 0, List.of(), computed);
    }

    private PageCollapse collapse(VersionPages pages, boolean moves, Duration retry) {
        return new PageCollapse(
                () -> versions,
                version -> pages,
                mayMove::get,
                () -> false,
                new PageCollapse.Pace(moves, SOON, retry, retry),
                thread,
                failures::add);
    }

    private static long bytes(long pieces) {
        return pieces * VersionPages.PIECE_BYTES;
    }

    @Test
    void whatIsNewIsMovedOnceHoweverOftenItIsAsked() {
        FakePages pages = new FakePages(5);
        versions.add(version("a"));
        PageCollapse collapse = collapse(pages, true, NEVER);

        for (int i = 0; i < 100; i++) {
            collapse.soon();
        }

        await().until(() -> collapse.hugeBytes() == bytes(5));
        collapse.soon();
        awaitIdle();
        assertThat(pages.asked).containsExactly(0L, 1L, 2L, 3L, 4L);
        assertThat(thread.getQueue()).isEmpty();
    }

    @Test
    void whatLiesOnHugePagesAlreadyIsNotAskedFor() {
        FakePages pages = new FakePages(5, 5);
        versions.add(version("a"));
        PageCollapse collapse = collapse(pages, true, SOON);

        collapse.soon();

        awaitIdle();
        assertThat(collapse.hugeBytes()).isEqualTo(bytes(5));
        assertThat(pages.asked).isEmpty();
        assertThat(thread.getQueue()).isEmpty();
    }

    @Test
    void whatIsRefusedWaitsForTheRetryAndNoMoreThanOneIsWaitedFor() {
        FakePages pages = new FakePages(3);
        pages.refused.add(1L);
        versions.add(version("a"));
        PageCollapse collapse = collapse(pages, true, NEVER);

        for (int i = 0; i < 100; i++) {
            collapse.soon();
            awaitIdle();
        }

        assertThat(pages.asked).containsExactly(0L, 1L, 2L);
        assertThat(collapse.hugeBytes()).isEqualTo(bytes(2));
        assertThat(thread.getQueue()).hasSize(1);
    }

    @Test
    void whatWasRefusedIsAskedForAgainAndNothingElse() {
        FakePages pages = new FakePages(3);
        pages.refused.add(1L);
        versions.add(version("a"));
        PageCollapse collapse = collapse(pages, true, SOON);
        collapse.soon();
        await().until(() -> pages.asked.size() > 4);
        assertThat(collapse.refusedBytes()).isEqualTo(bytes(1));

        pages.refused.clear();

        await().until(() -> collapse.hugeBytes() == bytes(3));
        assertThat(collapse.refusedBytes()).isZero();
        assertThat(pages.asked.subList(0, 3)).containsExactly(0L, 1L, 2L);
        assertThat(pages.asked.subList(3, pages.asked.size())).containsOnly(1L);
    }

    @Test
    void piecesThatAreAlwaysRefusedDoNotKeepThoseBehindThem() {
        FakePages pages = new FakePages(100);
        for (long piece = 0; piece < 40; piece++) {
            pages.refused.add(piece);
        }
        versions.add(version("a"));
        PageCollapse collapse = collapse(pages, true, SOON);

        collapse.soon();

        await().until(() -> collapse.hugeBytes() == bytes(60));
    }

    @Test
    void nothingIsAskedForWhileItHasToStandBack() {
        FakePages pages = new FakePages(4);
        versions.add(version("a"));
        mayMove.set(false);
        PageCollapse collapse = collapse(pages, true, NEVER);
        collapse.soon();
        await().until(() -> thread.getCompletedTaskCount() > 3);
        assertThat(pages.asked).isEmpty();

        mayMove.set(true);

        await().until(() -> collapse.hugeBytes() == bytes(4));
    }

    @Test
    void oneThatOnlyCountsMovesNothing() {
        FakePages pages = new FakePages(4);
        versions.add(version("a"));
        PageCollapse collapse = collapse(pages, false, SOON);

        collapse.soon();

        awaitIdle();
        assertThat(pages.asked).isEmpty();
        assertThat(thread.getQueue()).isEmpty();
    }

    @Test
    void aVersionThatFailsKeepsNoOtherFromMoving() {
        FakePages whole = new FakePages(2);
        VersionPages failing = new VersionPages() {
            @Override
            public long pieces() {
                return 1;
            }

            @Override
            public long hugePieces(BooleanSupplier mayGoOn) {
                return 0;
            }

            @Override
            public boolean collapse(long piece) {
                throw Failure.of(ErrorCode.UNEXPECTED, "made up").exception();
            }
        };
        versions.addAll(List.of(version("a"), version("b"), version("c")));
        PageCollapse collapse = new PageCollapse(
                () -> versions,
                version -> version.dataset().equals("b") ? failing : whole,
                () -> true,
                () -> false,
                new PageCollapse.Pace(true, SOON, NEVER, NEVER),
                thread,
                failures::add);

        collapse.soon();

        await().until(() -> collapse.hugeBytes() == bytes(4));
        awaitIdle();
        assertThat(new ArrayList<>(failures))
                .singleElement()
                .satisfies(e -> assertThat(e).hasMessageContaining("made up"));
    }

    @Test
    void whatHasLeftIsNotCounted() {
        versions.add(version("a"));
        PageCollapse collapse = collapse(new FakePages(4), true, NEVER);
        collapse.soon();
        await().until(() -> collapse.hugeBytes() == bytes(4));

        versions.clear();
        collapse.soon();

        await().until(() -> collapse.hugeBytes() == 0);
    }

    /** Waits until nothing is to be done now. */
    private void awaitIdle() {
        assertThat(thread.submit(() -> true)).succeedsWithin(Duration.ofMinutes(1));
    }
}
