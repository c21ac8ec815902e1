package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.BuildOptions;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.posix.Posix;
import dev.larder.npy.Dtype;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Rounds;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Loads, builds, readers, evictions and pins in a random order, from several threads at once, on a small mount, with and without others
 * who write there. The store never holds more than it may, nothing runs into a full mount that nobody else has filled, and once
 * everybody has ended, what fits beside what has to stay is let in and what does not is refused. For more of it, or for the same again:
 *
 * <pre>
 *   mvn -pl cache-server/daemon -am test -Dtest=SpaceRoundsTest -Dsurefire.failIfNoSpecifiedTests=false \
 *       -Dlarder.rounds=50 -Dlarder.seed=7
 * </pre>
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class SpaceRoundsTest {
    private static final long MIB = 1L << 20;
    private static final int THREADS = 4;
    private static final int STEPS = 25;
    private static final int[] SIZES = {1, 2, 5, 9, 14, 22};
    private static final int NAMES = 5;

    /** What a version takes besides its data: header, index, manifest, and a table of the catalog. */
    private static final long SLACK = MIB;

    private static final Set<ErrorCode> EXPECTED =
            EnumSet.of(ErrorCode.NO_SPACE, ErrorCode.REFUSED, ErrorCode.NOT_FOUND, ErrorCode.INTERRUPTED);

    @TempDir
    Path sources;

    /**
     * How many files lie there that count for no capacity: what registers each dataset that has left, index, manifest and a draft of
     * what each thread makes, and the catalog's next table.
     */
    private static final int FILES_BESIDE = NAMES + 3 * THREADS + 1;

    private enum Where {
        IN_A_CAPACITY("size=96m", 32 * MIB, SLACK, SLACK, false),
        ON_A_MOUNT("size=56m", ServedStore.ANY_CAPACITY, SLACK, SLACK, false),
        ON_HUGE_PAGES("size=160m,huge=always", 64 * MIB, 8 * SLACK, FILES_BESIDE * 2 * MIB, false),
        WITH_OTHERS("size=56m", ServedStore.ANY_CAPACITY, SLACK, SLACK, true);

        private final String mount;
        private final long capacityBytes;
        private final boolean othersWrite;

        /** By how much what is stored may differ from the model. */
        private final long slack;

        /** By how much the mount may be fuller than the capacity, while all are at work. */
        private final long besideBytes;

        Where(String mount, long capacityBytes, long slack, long besideBytes, boolean othersWrite) {
            this.mount = mount;
            this.capacityBytes = capacityBytes;
            this.slack = slack;
            this.besideBytes = besideBytes;
            this.othersWrite = othersWrite;
        }
    }

    @Test
    void spaceIsNeverOversoldAndNeverLostWhereOthersWriteToo() throws Exception {
        runRounds(Where.WITH_OTHERS);
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(names = "WITH_OTHERS", mode = EnumSource.Mode.EXCLUDE)
    void spaceIsNeverOversoldAndNeverLostElsewhere(Where where) throws Exception {
        runRounds(where);
    }

    private void runRounds(Where where) throws Exception {
        Rounds rounds = Rounds.of("space " + where, 1);
        for (int round = 0; round < rounds.count(); round++) {
            long seed = rounds.seed() + round;
            try (TinyTmpfs tiny = TinyTmpfs.mount(where.mount);
                    ServedStore served = ServedStore.at(tiny.folder().resolve("store"))) {
                new Round(where, served, tiny.folder(), seed).run();
            } catch (AssertionError e) {
                throw new AssertionError(where + " seed=" + seed, e);
            }
        }
    }

    private Path source(int mebibytes) {
        Path file = sources.resolve(mebibytes + ".npy");
        return Files.exists(file) ? file : ServedStore.writeHole(file, mebibytes * MIB);
    }

    /** One daemon, from its start to its end. */
    private final class Round {
        private final Where where;
        private final ServedStore served;
        private final Path mount;
        private final long roundSeed;
        private final ChildJvm daemon;
        private final long emptyBytes;
        private final long mostBytes;
        private final AtomicBoolean over = new AtomicBoolean();

        Round(Where where, ServedStore served, Path mount, long roundSeed) {
            this.where = where;
            this.served = served;
            this.mount = mount;
            this.roundSeed = roundSeed;
            for (int size : SIZES) {
                source(size);
            }
            this.daemon = served.startProcess(Long.toString(where.capacityBytes));
            this.emptyBytes = mountBytes();
            this.mostBytes = Math.min(where.capacityBytes, freeBytes());
        }

        private long freeBytes() {
            return Posix.system().space(mount).freeBytes();
        }

        private long mountBytes() {
            return Posix.system().space(mount).totalBytes() - freeBytes();
        }

        void run() throws Exception {
            List<CompletableFuture<Void>> running = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                Random random = new Random(roundSeed * THREADS + thread);
                int number = thread;
                running.add(CompletableFuture.runAsync(() -> play(random, number), task -> new Thread(task).start()));
            }
            CompletableFuture<Void> watch = CompletableFuture.runAsync(this::watch, task -> new Thread(task).start());
            try {
                CompletableFuture.allOf(running.toArray(CompletableFuture<?>[]::new))
                        .get(10, TimeUnit.MINUTES);
            } finally {
                over.set(true);
            }
            watch.get(1, TimeUnit.MINUTES);
            requireNothingLost(new Random(roundSeed));
            assertThat(daemon.isAlive()).isTrue();
        }

        private void play(Random random, int thread) {
            try (Larder larder = Larder.connect(served.root())) {
                for (int step = 0; step < STEPS; step++) {
                    try {
                        step(larder, random, thread);
                    } catch (LarderException e) {
                        requireExpected(e);
                    }
                }
            }
        }

        private void step(Larder larder, Random random, int thread) {
            int size = SIZES[random.nextInt(SIZES.length)];
            String loaded = "l" + random.nextInt(NAMES);
            String built = "b" + random.nextInt(2);
            int dice = random.nextInt(where.othersWrite ? 12 : 10);
            if (dice < 4) {
                served.load(loaded, source(size));
            } else if (dice < 6) {
                build(larder, built, Math.min(size, 9), random);
            } else if (dice == 6) {
                served.control().evict(random.nextBoolean() ? loaded : built);
            } else if (dice == 7) {
                read(larder, loaded, random);
            } else if (dice == 8) {
                served.control().pin(loaded);
                served.control().unpin(loaded);
            } else if (dice == 9) {
                served.control().evict(built);
            } else {
                writeBesideTheStore(mount.resolve("other-" + thread), random);
            }
        }

        private void build(Larder larder, String name, int mebibytes, Random random) {
            boolean isAnnounced = random.nextBoolean();
            boolean isGivenUp = random.nextInt(4) == 0;
            long bytes = mebibytes * MIB;
            try (DatasetBuilder builder = isAnnounced
                    ? larder.build(name, BuildOptions.NONE.withBytes(bytes + 2 * SLACK / 4))
                    : larder.build(name)) {
                for (int part = 0; part < 4; part++) {
                    builder.array("part" + part, Dtype.parse("|u1"), bytes / 4)
                            .write(bytes / 4 - 1, new byte[] {(byte) part});
                }
                if (!isGivenUp) {
                    builder.publish();
                }
            }
        }

        private void read(Larder larder, String name, Random random) {
            try (OwnedArrayView view = larder.open(name)) {
                for (int i = 0; i < 50; i++) {
                    assertThat(view.getInt(random.nextLong(view.byteSize()))).isBetween(0, 1);
                }
            }
        }

        private void writeBesideTheStore(Path file, Random random) {
            try {
                Files.deleteIfExists(file);
                if (random.nextBoolean()) {
                    Files.write(file, new byte[(int) (random.nextInt(20) * MIB)]);
                }
            } catch (IOException isFull) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1)); // others may free some
            }
        }

        /** Only somebody else can make the mount fuller than the daemon had thought. */
        private void requireExpected(LarderException e) {
            assertThat(e.code()).as(e.getMessage()).isIn(EXPECTED);
            if (e.code() == ErrorCode.NO_SPACE && !where.othersWrite) {
                assertThat(e).hasMessageStartingWith("not enough space: needed=");
            }
        }

        /** Looks at what the mount really holds, all the time. */
        private void watch() {
            while (!over.get()) {
                if (!where.othersWrite) {
                    assertThat(mountBytes() - emptyBytes).isLessThanOrEqualTo(mostBytes + where.besideBytes);
                }
                assertThat(served.control().status().usedBytes()).isLessThanOrEqualTo(mostBytes + SLACK);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5)); // leaves the cores to those it watches
            }
        }

        /** Compares with a model that is simple, as nobody else is at work any more: all leaves but what is pinned or was computed. */
        private void requireNothingLost(Random random) throws IOException {
            removeOthers();
            Set<String> staying = new TreeSet<>();
            served.control().list("", true).stream()
                    .filter(row -> row.state().text().equals("resident"))
                    .map(row -> row.name().substring(0, row.name().indexOf('/')))
                    .distinct()
                    .filter(dataset -> dataset.startsWith("b") || random.nextInt(3) == 0)
                    .forEach(staying::add);
            staying.stream().filter(dataset -> dataset.startsWith("l")).forEach(served.control()::pin);
            long room = mostBytes;
            for (String dataset : staying) {
                room -= storedBytes(served.layout().dataset(dataset));
            }

            assertThat(refusal("above", Math.max(0, room) + SLACK))
                    .as("what does not fit")
                    .isNotNull()
                    .contains(" reserved=0 ");
            if (room > 2 * where.slack) {
                assertThat(refusal("below", room - 2 * where.slack))
                        .as("what fits beside %s", staying)
                        .isNull();
            }
            served.control().verify("", progress -> {});
        }

        private long storedBytes(Path folder) throws IOException {
            Posix posix = Posix.system();
            long sum = 0;
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS))
                        .toList()) {
                    int descriptor = posix.openForReading(file);
                    sum += posix.status(descriptor).storedBytes();
                    posix.close(descriptor);
                }
            }
            return sum;
        }

        private void removeOthers() throws IOException {
            for (int thread = 0; thread < THREADS; thread++) {
                Files.deleteIfExists(mount.resolve("other-" + thread));
            }
        }

        private @Nullable String refusal(String name, long bytes) {
            try {
                served.load(name, ServedStore.writeHole(sources.resolve("some.npy"), bytes));
                return null;
            } catch (LarderException e) {
                assertThat(e.code()).as(e.getMessage()).isEqualTo(ErrorCode.NO_SPACE);
                return e.getMessage();
            } catch (UncheckedIOException e) {
                throw new AssertionError(e);
            }
        }
    }
}
