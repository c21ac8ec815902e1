package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.testing.FashionMnist;
import dev.larder.testing.LeavesNothingBehind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs daemons as users do, and ends them in every way. */
class ServeTest {
    private static final long LARGE = 512L << 20;

    @TempDir
    Path folder;

    @Test
    void servesFashionMnistUntilCtrlC() {
        try (CommandProcess daemon = CommandProcess.serve("--load", "mnist=" + FashionMnist.folder())) {
            assertThat(daemon.ask("ls").lines())
                    .containsExactly(
                            "NAME                DTYPE  SHAPE",
                            "mnist/t10k-images   |u1    (10000,28,28)",
                            "mnist/t10k-labels   |u1    (10000,)",
                            "mnist/train-images  |u1    (60000,28,28)",
                            "mnist/train-labels  |u1    (60000,)");
            assertThat(daemon.out()).isEqualTo("Done caching. Ctrl+C to clean up.\n");

            assertThat(daemon.signal("INT").exitCode()).isZero();
            assertThat(daemon.out()).containsPattern("Cleaned up: files=\\d+ bytes=\\d+ \\(\\d+\\.\\d MiB\\)\n$");
            assertThat(daemon.store()).doesNotExist();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"INT", "TERM", "HUP"})
    void aSignalWhileItLoadsCleansUp(String signal) {
        Path large = Samples.large(folder, LARGE);
        try (CommandProcess daemon = CommandProcess.start("serve", "--load", "large=" + large)) {
            daemon.awaitErr("loading");

            assertThat(daemon.signal(signal).exitCode()).isZero();
            assertThat(daemon.out()).contains("Cleaned up: ");
            assertThat(daemon.store()).doesNotExist();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 40, 80, 160, 240, 320, 400, 480})
    void aSignalAtAnyMomentLeavesNothing(int afterMs) {
        Path source = Samples.vector(folder, "v", 1_000_000);
        try (CommandProcess daemon = CommandProcess.start("serve", "--load", "v=" + source)) {
            daemon.signalAfter(afterMs, "TERM");

            // before the command itself runs, the JDK's own end stands: 128 + 15, or, seldom, 1 without a word
            int code = daemon.exitCode();
            assertThat(code).as(daemon.err()).isIn(0, 143, 1);
            assertThat(code == 1 ? daemon.out() + daemon.err() : "").isEmpty();
            assertThat(daemon.store()).doesNotExist();
        }
    }

    @Tag("slow")
    @Test
    void aSecondCtrlCForces() {
        Path large = Samples.large(folder, LARGE);
        try (CommandProcess daemon = CommandProcess.serve("--load", "large=" + large)) {
            daemon.signal("INT").signal("INT");

            assertThat(daemon.exitCode()).isIn(0, 130);
            Answer next = Answer.of(daemon.store(), "status");
            assertThat(next.code()).isEqualTo(3);
            CommandProcess.serveOn(daemon.store()).close();
            assertThat(daemon.store()).doesNotExist();
        }
    }

    @Test
    void aSecondDaemonIsRefusedWithThePidOfTheFirst() {
        try (CommandProcess first = CommandProcess.serve();
                CommandProcess second = CommandProcess.onStore(first.store(), "serve")) {
            assertThat(second.exitCode()).isEqualTo(7);
            assertThat(second.err()).contains("pid=" + first.pid()).contains("store=" + first.store());
            assertThat(first.ask("status").code()).isZero();
        }
    }

    @Test
    void whatLoadsIsServedAndTheRestIsSaidAndTriedAgain() throws Exception {
        Path good = Samples.vector(folder, "good", 1000);
        Path bad = Files.write(folder.resolve("bad.npy"), new byte[] {1, 2, 3});
        try (CommandProcess daemon = CommandProcess.start(
                "serve",
                "--load",
                "late=" + folder.resolve("late.npy"),
                "--load",
                "good=" + good,
                "--load",
                "bad=" + bad)) {
            daemon.awaitOut("Done caching: 1 of 3 datasets; not loaded: late, bad; larder reload NAME tries again,"
                    + " larder load NAME=PATH another path. Ctrl+C");
            assertThat(daemon.err()).contains("larder: not loaded: late\nlarder: ", "not loaded: bad\n", "offset=");
            assertThat(daemon.ask("ls").out())
                    .contains("good/good ")
                    .containsPattern("bad +- +registered")
                    .containsPattern("late +- +registered");
            assertThat(daemon.ask("errors").out()).contains(bad.toString(), "late.npy");

            Samples.vector(folder, "late", 1000);
            Files.copy(good, bad, StandardCopyOption.REPLACE_EXISTING);
            assertThat(daemon.ask("reload", "bad").code()).isZero();
            assertThat(daemon.ask("wait", "late").code()).isZero();
            assertThat(daemon.ask("ls").out()).contains("late/late", "bad/bad");
        }
    }

    @Test
    void aDatasetThatDoesNotFitBesideTheOthersDoesNotDriveThemOut() {
        Path small = Samples.vector(folder, "small", 30 << 20);
        Path large = Samples.vector(folder, "large", 40 << 20);
        try (CommandProcess daemon = CommandProcess.start(
                "serve", "--capacity", "64m", "--load", "small=" + small, "--load", "large=" + large)) {
            daemon.awaitOut("Done caching: 1 of 2 datasets; not loaded: large");
            assertThat(daemon.ask("ls").out()).contains("small/small").containsPattern("large +- +registered");
            assertThat(daemon.err()).contains("not enough space: needed=");
        }
    }

    @Test
    void withStrictLoadsASourceThatCannotBeReadEndsWith6AndLeavesNothing() throws Exception {
        Path good = Samples.vector(folder, "good", 1000);
        Path bad = Files.write(folder.resolve("bad.npy"), new byte[] {1, 2, 3});
        try (CommandProcess daemon =
                CommandProcess.start("serve", "--strict-loads", "--load", "good=" + good, "--load", "bad=" + bad)) {
            assertThat(daemon.exitCode()).isEqualTo(6);
            assertThat(daemon.err())
                    .contains("larder: ", bad.toString(), "offset=")
                    .doesNotContain("\tat ");
            assertThat(daemon.out()).isEmpty();
            assertThat(daemon.store()).doesNotExist();
        }
    }

    @Test
    void aStackTraceOfAFailureIsShownOnRequest() {
        try (CommandProcess daemon =
                CommandProcess.start("serve", "--debug", "--strict-loads", "--load", "a=/does/not/exist")) {
            assertThat(daemon.exitCode()).isEqualTo(6);
            assertThat(daemon.err()).contains("\tat dev.larder.");
        }
    }

    @Test
    void aStoreThatIsKeptIsFoundByTheNextDaemon() {
        Path source = Samples.vector(folder, "v", 1000);
        Path store = LeavesNothingBehind.newStore();
        try (CommandProcess first = CommandProcess.serveOn(store, "--keep", "--load", "v=" + source)) {
            assertThat(first.signal("TERM").exitCode()).isZero();
            assertThat(first.out()).contains("The store is kept.");
            assertThat(store.resolve("control.sock")).doesNotExist();
        }
        try (CommandProcess second = CommandProcess.serveOn(store)) {
            assertThat(second.ask("ls").out()).contains("v/v");
            assertThat(second.ask("verify").code()).isZero();
            assertThat(second.ask("stop").code()).isZero();
            assertThat(store).doesNotExist();
        }
    }

    @Test
    void afterAKilledDaemonTheNextOneWorksAndNothingLeaks() {
        Path source = Samples.vector(folder, "v", 1000);
        Path large = Samples.large(folder, LARGE);
        Path store = LeavesNothingBehind.newStore();
        try (CommandProcess killed = CommandProcess.serveOn(store, "--load", "v=" + source);
                CommandProcess load = CommandProcess.onStore(store, "load", "large=" + large)) {
            load.awaitErr("loading");
            killed.kill();
            assertThat(load.exitCode()).isEqualTo(3);
        }
        try (CommandProcess next = CommandProcess.serveOn(store, "--load", "again=" + source)) {
            assertThat(next.ask("ls").out()).contains("v/v", "again/v").doesNotContain("large");
            assertThat(store.resolve("incoming")).isEmptyDirectory();
            assertThat(next.signal("INT").exitCode()).isZero();
            assertThat(store).doesNotExist();
        }
    }

    @Test
    void whatSomebodyStillReadsIsReportedAndReadableToTheEnd() {
        Path source = Samples.vector(folder, "v", 1_000_000);
        try (CommandProcess daemon = CommandProcess.serve("--load", "v=" + source);
                Larder larder = Larder.connect(daemon.store());
                OwnedArrayView view = larder.open("v")) {
            assertThat(daemon.signal("INT").exitCode()).isZero();

            assertThat(daemon.out())
                    .contains("freed when their readers end: heldUntilExit=100")
                    .contains("pids=" + ProcessHandle.current().pid() + "\n");
            assertThat(daemon.store()).doesNotExist();
            assertThat(view.getInt(999_999)).isEqualTo(999_999 & 0xff);
        }
    }

    @Test
    void aCapacityThatTheMountDoesNotAllowIsSaidAtTheStart() {
        try (CommandProcess daemon = CommandProcess.serve("--capacity", "900t")) {
            assertThat(daemon.err())
                    .contains("the capacity is more than the mount and the control group allow: capacity=900.0 TiB ("
                            + (900L << 40) + " bytes) allowed=")
                    .containsPattern("allowed=[0-9.]+ .?i?B \\([0-9]+ bytes\\);");
        }
    }

    @Test
    void theCapacityIsKept() {
        Path large = Samples.large(folder, LARGE);
        try (CommandProcess daemon =
                CommandProcess.start("serve", "--strict-loads", "--capacity", "64m", "--load", "large=" + large)) {
            assertThat(daemon.exitCode()).isEqualTo(5);
            assertThat(daemon.err()).contains("not enough space: needed=");
            assertThat(daemon.store()).doesNotExist();
        }
    }
}
