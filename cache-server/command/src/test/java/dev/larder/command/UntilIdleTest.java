package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.npy.Dtype;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Daemons that end by themselves. */
class UntilIdleTest {
    private static final Duration LIMIT = Duration.ofSeconds(2);

    @TempDir
    Path folder;

    private CommandProcess serve() {
        return CommandProcess.serve(
                "--until-idle", LIMIT.toSeconds() + "s", "--load", "v=" + Samples.vector(folder, "v", 5000));
    }

    /** Requires that the daemon still runs when it has had every opportunity to end, and looks all the while. */
    private static void staysWhileOthersLook(CommandProcess daemon) {
        long begin = System.nanoTime();
        do {
            assertThat(daemon.ask("status").code()).isZero();
        } while (System.nanoTime() - begin < LIMIT.multipliedBy(2).toNanos());
    }

    private static Duration timeToEnd(CommandProcess daemon, long beginNs) {
        assertThat(daemon.exitCode()).isZero();
        return Duration.ofNanos(System.nanoTime() - beginNs);
    }

    @Test
    void anUnusedDaemonEndsAndCleansUpAlthoughOthersLookAtIt() {
        try (CommandProcess daemon = serve()) {
            await().pollInterval(Duration.ofMillis(100))
                    .until(() -> daemon.ask("status").code() == 3
                            || daemon.ask("top", "--once").code() == 3);

            assertThat(daemon.exitCode()).isZero();
            assertThat(daemon.out()).contains("Unused for 2.0 s: ending.\n", "Cleaned up: files=");
            assertThat(daemon.store()).doesNotExist();
        }
    }

    @Tag("slow")
    @Test
    void aReaderKeepsItAliveAndTheClockStartsWhenTheReaderEnds() throws InterruptedException {
        try (CommandProcess daemon = serve()) {
            Process reader = Samples.reader(daemon.store().resolve("data/v/1/lease"));
            staysWhileOthersLook(daemon);
            long endNs = System.nanoTime();
            reader.destroyForcibly().waitFor();

            assertThat(timeToEnd(daemon, endNs)).isGreaterThan(LIMIT.minusMillis(500));
        }
    }

    @Tag("slow")
    @Test
    void aClientThatWaitsKeepsItAliveUntilItLeaves() throws InterruptedException {
        try (CommandProcess daemon = serve()) {
            Process reader = Samples.reader(daemon.store().resolve("data/v/1/lease"));
            try (CommandProcess waiting = CommandProcess.onStore(daemon.store(), "wait", "later", "--timeout", "1h")) {
                waiting.awaitErr("waiting"); // a JVM may take longer to start than the daemon waits for users
                reader.destroyForcibly().waitFor();
                staysWhileOthersLook(daemon);
                long endNs = System.nanoTime();
                waiting.kill();

                assertThat(timeToEnd(daemon, endNs)).isGreaterThan(LIMIT.minusMillis(500));
            }
        }
    }

    @Tag("slow")
    @Test
    void withKeepTheStoreStaysForTheNextDaemon() {
        try (CommandProcess daemon = CommandProcess.serve("--until-idle", "200ms", "--keep")) {
            assertThat(daemon.exitCode()).isZero();

            assertThat(daemon.out()).endsWith("The store is kept.\n");
            CommandProcess.serveOn(daemon.store()).close();
        }
    }

    @Test
    void aStoreWithComputedDataStaysForTheNextDaemon() {
        try (CommandProcess daemon = CommandProcess.serve("--until-idle", "1s", "--log-level", "info")) {
            try (Larder larder = Larder.connect(daemon.store());
                    DatasetBuilder made = larder.create("made", Dtype.parse("<i4"), 3)) {
                made.publish();
            }

            assertThat(daemon.exitCode()).isZero();

            String reason = "Unused for 1.0 s: ending, and keeping the store: some of its data has no source.";
            assertThat(daemon.out()).contains(reason).endsWith("The store is kept.\n");
            assertThat(daemon.err()).contains(reason);
            try (CommandProcess next = CommandProcess.serveOn(daemon.store())) {
                assertThat(next.ask("ls").out()).contains("made/data");
            }
        }
    }
}
