package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code larder stop} does while others read. */
class StopInUseTest {
    @TempDir
    Path folder;

    private CommandProcess daemon;
    private Process reader;
    private Path lease;

    @BeforeEach
    void serveAndRead() throws Exception {
        daemon = CommandProcess.serve();
        daemon.ask("load", "v=" + Samples.vector(folder, "v", 5000));
        lease = daemon.store().resolve("data/v/1/lease");
        reader = Samples.reader(lease);
    }

    @AfterEach
    void end() throws Exception {
        reader.destroyForcibly().waitFor();
        daemon.close();
    }

    @Test
    void itIsRefusedWithThePidsAndNothingIsLost() {
        Answer refused = daemon.ask("stop");

        assertThat(refused.code()).isEqualTo(7);
        assertThat(refused.err())
                .contains("datasets of the store are in use")
                .contains("datasets=[v]")
                .contains("pids=[" + reader.pid() + "]")
                .contains("--force");
        assertThat(daemon.ask("ls").out()).contains("v/v");
    }

    @Test
    void forcedItStops() {
        Answer answer = daemon.ask("stop", "--force");

        assertThat(answer.code()).isZero();
        assertThat(answer.out()).contains("pids=" + reader.pid());
        assertThat(daemon.exitCode()).isZero();
    }

    @Test
    void itIsNeverRefusedWhereTheStoreStays() {
        assertThat(daemon.ask("stop", "--keep").code()).isZero();
        assertThat(daemon.exitCode()).isZero();
        assertThat(lease).exists();
        CommandProcess.serveOn(daemon.store()).close();
    }

    @Test
    void itWaitsForReadersToEnd() throws Exception {
        CompletableFuture<Answer> stop = CompletableFuture.supplyAsync(() -> daemon.ask("stop", "--wait", "1m"));
        Answer late = daemon.ask("stop", "--wait", "300ms");
        assertThat(stop).isNotDone();
        reader.destroyForcibly().waitFor();

        assertThat(late.code()).isEqualTo(9);
        assertThat(stop.get(1, TimeUnit.MINUTES).code()).isZero();
    }

    @Test
    void ctrlCAtTheDaemonAsksNobody() {
        daemon.signal("INT");

        assertThat(daemon.exitCode()).isZero();
        assertThat(daemon.store()).doesNotExist();
    }

    @Test
    void aReaderThatCannotBeSeenFromThisPidNamespaceIsCountedAllTheSame() {
        try (CommandProcess inside =
                CommandProcess.by(List.of("unshare", "--pid", "--fork", "--mount-proc"), daemon.store(), "stop")) {
            int code = inside.exitCode();
            assumeThat(inside.err()).as("needs root").doesNotContain("unshare: ");

            assertThat(code).isEqualTo(7);
            assertThat(inside.err()).contains("pids=unknown");
        }
    }
}
