package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.internal.layout.CountersDescriptor;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Footprint;
import dev.larder.testing.ProtocolSamples;
import dev.larder.testing.ProtocolSiege;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The long run of the same is in bench. */
@Timeout(180)
class ProtocolFuzzTest {
    private static final long SEED = Long.getLong("larder.seed", 4);
    private static final long CAPACITY = 64L << 20;
    private static final int SLACK = 4;
    private static final long HEAP_SLACK_BYTES = 8L << 20;

    @TempDir
    Path sources;

    private ServedStore store;
    private Path source;

    @BeforeEach
    void prepare() {
        store = ServedStore.create();
        source = ServedStore.writeBytes(sources.resolve("x.npy"), 100_000);
    }

    @AfterEach
    void remove() {
        store.close();
    }

    @Test
    void samplesAreOfEveryKind() {
        assertThat(ProtocolSamples.requests(source).stream()
                        .map(Object::getClass)
                        .distinct())
                .hasSameSizeAs(kinds(Request.class).toArray());
        assertThat(ProtocolSamples.responses().stream().map(Object::getClass).distinct())
                .hasSameSizeAs(kinds(Response.class).toArray());
    }

    /** Returns the records that a sealed type permits, through sealed types below it. */
    private static Stream<Class<?>> kinds(Class<?> type) {
        return type.isSealed()
                ? Arrays.stream(type.getPermittedSubclasses()).flatMap(ProtocolFuzzTest::kinds)
                : Stream.of(type);
    }

    @Test
    void daemonOutlivesSpoiledFramesAndHoldsNothingAfterwards() throws Exception {
        store.start(OptionalLong.of(CAPACITY));
        store.load(ProtocolSiege.STEADY, source);
        new ProtocolSiege(store.root(), source, SEED + 1, 5_000).run();
        Footprint before = Footprint.of(ProcessHandle.current().pid());
        long heapBefore = Footprint.heapBytes();

        System.out.println("seed=" + SEED + " " + new ProtocolSiege(store.root(), source, SEED, 6_000).run());

        awaitNothingLeft(ProcessHandle.current().pid(), before);
        assertThat(Footprint.heapBytes()).isLessThan(heapBefore + HEAP_SLACK_BYTES);
        assertThat(store.control().errors()).noneMatch(error -> error.trace().contains("NullPointer"));
    }

    @Test
    void daemonProcessOutlivesSpoiledFramesAndHoldsNothingAfterwards() throws Exception {
        ChildJvm daemon = store.startProcess(Long.toString(CAPACITY));
        store.load(ProtocolSiege.STEADY, source);
        new ProtocolSiege(store.root(), source, SEED + 3, 1_000).run();
        Footprint before = Footprint.of(daemon.pid());

        System.out.println("seed=" + SEED + " " + new ProtocolSiege(store.root(), source, SEED + 2, 2_000).run());

        awaitNothingLeft(daemon.pid(), before);
        assertThat(daemon.isAlive()).isTrue();
        assertThat(daemon.errors()).doesNotContain("Exception");
    }

    private void awaitNothingLeft(long pid, Footprint before) {
        await().untilAsserted(() -> {
            assertThat(CountersDescriptor.read(store.layout().counters()).counters())
                    .containsEntry("connections", 0L);
            assertThat(ServedStore.entries(store.layout().incoming())).isEmpty();
            assertThat(Footprint.of(pid)).matches(now -> now.isAtMost(before, SLACK), "as before: " + before);
        });
    }
}
