package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.larder.testing.ChildJvm;
import dev.larder.testing.PackedClassPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loads of files with an unchanged listing, by a daemon that trusts a listing after 20 ms instead of a minute. */
class UnchangedListingTest {
    private static final int FILES = 50;
    private static final int FILE_BYTES = 60_000;

    @TempDir
    Path sources;

    private ServedStore served;
    private ChildJvm daemon;

    @BeforeEach
    void serve() throws IOException {
        assumeThat(Files.getFileStore(sources).type()).isIn("btrfs", "ext4", "xfs");
        for (int i = 0; i < FILES; i++) {
            ServedStore.writeBytes(sources.resolve("a" + i + ".npy"), FILE_BYTES);
        }
        served = ServedStore.create();
        daemon = ChildJvm.start(
                PackedClassPath.words(),
                Stream.concat(ChildJvm.libraryFlags().stream(), Stream.of("-Dlarder.settled-ms=20"))
                        .toList(),
                DaemonProgram.class.getName(),
                served.root().toString());
        daemon.awaitLine(DaemonProgram.READY);
        served.load("d", sources);
    }

    @AfterEach
    void stop() {
        if (daemon != null) {
            Object unused = served.control().stop(false, progress -> {});
            daemon.awaitExit();
            daemon.close();
            served.close();
        }
    }

    private String load() {
        return served.load("d", sources).message();
    }

    /** Returns the number of bytes that the daemon has read by system calls. */
    private long readBytes() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/" + daemon.pid() + "/io"))) {
            return lines.filter(line -> line.startsWith("rchar: "))
                    .mapToLong(line -> Long.parseLong(line.substring("rchar: ".length())))
                    .sum();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitLoadThatReadsNothing() {
        await().untilAsserted(() -> {
            long before = readBytes();
            assertThat(load()).contains("d is unchanged: version=", "its sources look unchanged");
            assertThat(readBytes() - before).isLessThan((long) FILES * FILE_BYTES / 4);
        });
    }

    @Test
    void noFileIsReadAgain() {
        awaitLoadThatReadsNothing();
    }

    @Test
    void eachKindOfChangeIsFoundAfterALoadThatReadNothing() throws IOException {
        awaitLoadThatReadsNothing();
        ServedStore.writeInts(sources.resolve("a7.npy"), 1);
        assertThat(load()).contains("d has changed: version=2");

        awaitLoadThatReadsNothing();
        Files.delete(sources.resolve("a8.npy"));
        assertThat(load()).contains("d has changed: version=3");

        awaitLoadThatReadsNothing();
        Files.writeString(sources.resolve("notes"), "no array");
        assertThat(load()).contains("look unchanged", "skipped 1 file of no known kind");
    }
}
