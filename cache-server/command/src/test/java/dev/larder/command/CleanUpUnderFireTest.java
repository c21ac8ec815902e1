package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.client.ArrayView;
import dev.larder.client.Larder;
import dev.larder.testing.BusyMachine;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.LeaseHolder;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ends daemons in the middle of everything: in time, with nothing left but what is leased, and with a word about that. */
class CleanUpUnderFireTest {
    /** What a clean-up may take, and what a JVM needs to end. */
    private static final Duration BOUND = Duration.ofMillis(2_500);

    private static final long LARGE = 512L << 20;
    private static final int LEASES = 50;
    private static final int LENGTH = 10_000;

    /** A header of one page, and the data's pages. */
    private static final long STORED_BYTES = 4_096 * 4;

    @TempDir
    Path folder;

    private static void endInTime(CommandProcess daemon, String signal) {
        long start = System.nanoTime();
        assertThat(daemon.signal(signal).exitCode()).isZero();
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        assertThat(took).isLessThan(BusyMachine.boundOr(BOUND));
        assertThat(daemon.store()).doesNotExist();
    }

    @Test
    void ctrlCDuringALoadTellsThoseWhoLoadAndThoseWhoWait() {
        Path large = Samples.large(folder, LARGE);
        try (CommandProcess daemon = CommandProcess.serve();
                CommandProcess load = CommandProcess.onStore(daemon.store(), "load", "large=" + large);
                CommandProcess wait = CommandProcess.onStore(daemon.store(), "wait", "large", "--timeout", "90s")) {
            load.awaitErr("loading");

            endInTime(daemon, "INT");

            assertThat(load.exitCode()).isIn(3, 130);
            assertThat(load.err()).contains("larder: ").doesNotContain("\tat ");
            assertThat(wait.exitCode()).isIn(3, 130);
            assertThat(wait.err()).contains("larder: ").doesNotContain("\tat ");
        }
    }

    @Test
    void fiftyLeasesInTwoProcessesKeepTheirViewsAndAreTold() throws Exception {
        List<String> arguments = new ArrayList<>();
        for (int i = 0; i < LEASES; i++) {
            arguments.addAll(List.of("--load", "d" + i + "=" + Samples.vector(folder, "v" + i, LENGTH)));
        }
        try (CommandProcess daemon = CommandProcess.serve(arguments.toArray(String[]::new));
                ChildJvm other = ChildJvm.start(LeaseHolder.class, daemon.store() + "", "d0");
                Larder larder = Larder.connect(daemon.store())) {
            other.awaitLine("leased");
            List<ArrayView> views = new ArrayList<>();
            for (int i = 0; i < LEASES; i++) {
                views.add(larder.open("d" + i));
            }

            endInTime(daemon, "INT");

            assertThat(daemon.out())
                    .contains("heldUntilExit=" + LEASES * STORED_BYTES)
                    .contains("" + other.pid(), "" + ProcessHandle.current().pid());
            assertThat(views)
                    .allSatisfy(view -> assertThat(view.getInt(LENGTH - 1)).isEqualTo((LENGTH - 1) & 0xff));
        }
    }

    @Tag("slow")
    @Test
    void aFullTmpfsIsCleanedUpAndWhatIsNotOursStays() throws Exception {
        Path source = Samples.vector(folder, "v", 100_000);
        try (TinyTmpfs tmpfs = TinyTmpfs.mount("size=24m");
                CommandProcess daemon =
                        CommandProcess.serveOn(tmpfs.folder().resolve("store"), "--load", "v=" + source)) {
            assertThat(daemon.ask("pin", "v").code()).isZero();
            Path filler = fill(tmpfs.folder().resolve("filler"));
            assertThat(daemon.ask("load", "more=" + source).code()).isEqualTo(5);
            assertThat(daemon.ask("ls").out()).contains("v/v");

            endInTime(daemon, "INT");

            assertThat(daemon.out()).contains("Cleaned up: ");
            assertThat(filler).isNotEmptyFile();
        }
    }

    private static Path fill(Path file) throws IOException {
        byte[] block = new byte[4_096];
        try (OutputStream out = Files.newOutputStream(file)) {
            while (true) {
                out.write(block);
            }
        } catch (IOException full) {
            return file;
        }
    }

    @RepeatedTest(2)
    void aSignalInTheMiddleOfAPublishLeavesNothing() {
        Path source = Samples.vector(folder, "v", 100_000);
        List<String> arguments = new ArrayList<>(List.of("load"));
        for (int i = 0; i < LEASES; i++) {
            arguments.add("d" + i + "=" + source);
        }
        try (CommandProcess daemon = CommandProcess.serve();
                CommandProcess load = CommandProcess.onStore(daemon.store(), arguments.toArray(String[]::new))) {
            await().pollInSameThread()
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> isPublishing(daemon.store()));

            endInTime(daemon, "TERM");

            assertThat(load.exitCode()).isIn(0, 3, 130);
            assertThat(daemon.out()).contains("Cleaned up: ");
        }
    }

    /** Tells whether some version has its manifest, which comes last, or is there already. */
    private static boolean isPublishing(Path store) throws IOException {
        return hasAny(store.resolve("incoming"), "manifest.json") || hasAny(store.resolve("data"), "current");
    }

    private static boolean hasAny(Path parent, String file) throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent)) {
            for (Path entry : entries) {
                if (Files.exists(entry.resolve(file))) {
                    return true;
                }
            }
        }
        return false;
    }
}
