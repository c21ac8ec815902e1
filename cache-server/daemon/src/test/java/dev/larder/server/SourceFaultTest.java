package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.Progress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sources that misbehave while a daemon reads them. */
@Timeout(300)
class SourceFaultTest {
    private static final int LARGE = 256 << 20;

    @TempDir
    Path sources;

    private ServedStore served;

    @BeforeEach
    void start() {
        served = ServedStore.create();
        served.start();
    }

    @AfterEach
    void stop() {
        served.close();
    }

    @Test
    void aSourceThatIsTruncatedWhileItIsReadIsRefused() throws IOException {
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), LARGE);
        try (FileChannel channel = FileChannel.open(source, StandardOpenOption.WRITE)) {
            assertRefusedWhen(source, () -> channel.truncate(LARGE / 2));
        }
    }

    @Test
    void aSourceThatIsWrittenWhileItIsReadIsRefused() throws IOException {
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), LARGE);
        try (FileChannel channel = FileChannel.open(source, StandardOpenOption.WRITE)) {
            assertRefusedWhen(source, () -> channel.write(ByteBuffer.wrap(new byte[] {1}), LARGE / 2));
        }
    }

    @Test
    void aSourceThatIsReplacedWhileItIsReadIsRefused() {
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), LARGE);

        assertRefusedWhen(source, () -> {
            Files.delete(source);
            ServedStore.writeHole(source, LARGE);
        });
    }

    private interface Change {
        void run() throws IOException;
    }

    /** Changes the source once the load is under way: the load fails and names it, nothing is left, and all goes on. */
    private void assertRefusedWhen(Path source, Change change) {
        AtomicBoolean changed = new AtomicBoolean();
        assertThatThrownBy(() -> served.control().load(ServedStore.request("d", source), progress -> {
                    if (progress.phase() == Progress.Phase.LOADING && changed.compareAndSet(false, true)) {
                        run(change);
                    }
                }))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining(source.toString());
        assertNothingIsLeft();
        served.load("d", ServedStore.writeInts(sources.resolve("good.npy"), 1));
    }

    private static void run(Change change) {
        try {
            change.run();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aPipeIsRefusedAndNobodyWaitsForIt() throws Exception {
        Path pipe = sources.resolve("pipe.npy");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor(60, TimeUnit.SECONDS))
                .isTrue();

        assertRefused(pipe, "a regular file");
        assertRefused(sources, "pipe.npy");
    }

    @Test
    void anAbsentSourceAnEmptyFolderAndALoopOfLinksAreRefused() throws IOException {
        assertRefused(sources.resolve("absent.npy"), "absent.npy");
        Path empty = Files.createDirectory(sources.resolve("empty"));
        assertRefused(empty, empty.toString());
        Path loop = Files.createDirectory(sources.resolve("loop"));
        Files.createSymbolicLink(loop.resolve("again"), loop);
        assertRefused(loop, "loop");
    }

    @Test
    void aDeviceWithoutEndIsRefused() throws IOException {
        Path device = Files.createSymbolicLink(sources.resolve("zero.npy"), Path.of("/dev/zero"));

        assertRefused(device, "zero.npy");
        Files.delete(device);
    }

    private void assertRefused(Path source, String message) {
        assertThatThrownBy(() -> served.load("d", source))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining(message);
        assertNothingIsLeft();
    }

    private void assertNothingIsLeft() {
        assertThat(served.control().list("", true)).isEmpty();
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
        assertThat(ServedStore.entries(served.layout().data())).isEmpty();
    }
}
