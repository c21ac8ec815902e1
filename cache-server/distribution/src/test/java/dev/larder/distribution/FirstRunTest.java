package dev.larder.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first command of an install starts a process that makes the archive of classes, so that later commands start quickly. */
class FirstRunTest {
    private static final String PLAIN = "larder.archive";

    @TempDir
    Path temporary;

    @Tag("slow")
    @Test
    void anotherUserRunsAReadOnlyInstallThroughALink() throws IOException {
        try (Installed installed = Installed.unpack(PLAIN, temporary.resolve("shared"))) {
            Path link = Files.createSymbolicLink(
                    temporary.resolve("larder"), installed.root().resolve("bin/larder"));
            List<String> before = Installed.files(installed.root());

            Ended first = Installed.run(installed.environment(), asNobody(installed, link, "--version"));
            installed.awaitArchive();
            Ended second = Installed.run(installed.environment(), asNobody(installed, link, "--version"));

            assertThat(first.err() + second.err()).isEmpty();
            assertThat(List.of(first.out(), second.out()))
                    .allSatisfy(out -> assertThat(out).startsWith("larder "));
            assertThat(Installed.files(installed.root())).isEqualTo(before);
            Installed.requireOurClasses(installed.home().resolve(".cache/larder"));
            assertThat(installed.temporary()).isEmptyDirectory();
        }
    }

    @Test
    void whereNothingCanBeWrittenACommandIsOnlySlower() throws IOException {
        try (Installed installed = Installed.unpack(PLAIN, temporary.resolve("sealed"))) {
            List<String> command = asNobody(installed, installed.root().resolve("bin/larder"), "--version");
            Files.setPosixFilePermissions(installed.home(), PosixFilePermissions.fromString("r-xr-xr-x"));
            if (isRoot()) {
                chown(installed.home(), "root");
            }

            Ended ended = Installed.run(installed.environment(), command);

            assertThat(installed.makers()).isEmpty();
            assertThat(ended.err()).isEmpty();
            assertThat(ended.out()).startsWith("larder ");
            Files.setPosixFilePermissions(installed.home(), PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    /** Makes words that run a program as a user who may not write to the install. */
    private List<String> asNobody(Installed installed, Path program, String word) throws IOException {
        List<String> command = new ArrayList<>();
        if (isRoot()) {
            command.addAll(List.of("/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
            Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxr-xr-x"));
            chown(installed.home(), "65534");
        } else {
            Files.setPosixFilePermissions(installed.root(), PosixFilePermissions.fromString("r-xr-xr-x"));
        }
        command.addAll(List.of(program.toString(), word));
        List<String> probe = new ArrayList<>(command.subList(0, command.size() - 2));
        probe.addAll(List.of("/usr/bin/test", "-r", program.toString()));
        assumeTrue(Installed.run(Map.of(), probe).code() == 0, "other users cannot reach this folder");
        return command;
    }

    private static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    private static void chown(Path file, String user) {
        assertThat(Installed.run(Map.of(), List.of("chown", user, file.toString()))
                        .code())
                .isZero();
    }

    @Tag("slow")
    @Test
    void twoFirstRunsAtOnceBothWork() throws IOException {
        try (Installed installed = Installed.unpack(PLAIN, temporary.resolve("twice"))) {
            CompletableFuture<Ended> other = CompletableFuture.supplyAsync(() -> installed.larder("--version"));
            Ended one = installed.larder("--version");

            assertThat(List.of(one, other.join()))
                    .allSatisfy(
                            ended -> assertThat(ended.code()).as(ended.err()).isZero());
            installed.awaitArchive();
            assertThat(Installed.files(installed.root().resolve("archive")))
                    .noneMatch(name -> name.startsWith(".") || name.contains("/."));
            Installed.requireOurClasses(installed.root().resolve("archive"));
        }
    }

    @Tag("slow")
    @Test
    void theFirstCommandDoesNotWaitAndADaemonThatItStartsServesOn() throws IOException {
        try (Installed installed = Installed.unpack(PLAIN, temporary.resolve("daemon"))) {
            assertThat(installed.larder("serve", "--detach").err()).isEmpty();
            assertThat(installed.root().resolve("archive/.making")).isDirectory();

            installed.awaitArchive();

            Installed.requireOurClasses(installed.root().resolve("archive"));
            assertThat(installed.larder("status").code()).isZero();
            assertThat(installed.temporary()).isEmptyDirectory();
        }
    }
}
