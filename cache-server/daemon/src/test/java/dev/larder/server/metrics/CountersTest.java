package dev.larder.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.CountersDescriptor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CountersTest {
    @TempDir
    Path folder;

    @Test
    void whatIsCountedIsReadFromTheFileByItsLabel() {
        Path file = folder.resolve("counters");
        Counters counters = Counters.create(file, 4711, 12345);

        counters.increment(Counter.LOADS);
        counters.add(Counter.RESIDENT_BYTES, 1L << 40);
        counters.add(Counter.RESIDENT_BYTES, -1);
        counters.set(Counter.ARRAYS, 7);

        CountersDescriptor.Snapshot read = CountersDescriptor.read(file);
        assertThat(read.pid()).isEqualTo(4711);
        assertThat(read.startEpochMs()).isEqualTo(12345);
        assertThat(read.counters())
                .containsEntry("loads", 1L)
                .containsEntry("resident bytes", (1L << 40) - 1)
                .containsEntry("arrays", 7L)
                .containsEntry("evictions", 0L);
        assertThat(read.counters().keySet())
                .containsExactlyElementsOf(
                        Arrays.stream(Counter.values()).map(Counter::label).toList());
    }

    @Test
    void countsFromManyThreadsAllCount() {
        Counters counters = Counters.create(folder.resolve("counters"), 1, 1);

        IntStream.range(0, 100_000).parallel().forEach(i -> counters.increment(Counter.REQUESTS));

        assertThat(counters.value(Counter.REQUESTS)).isEqualTo(100_000);
    }

    @Test
    void aNewDaemonStartsFromZeroAndOthersCannotRead() throws IOException {
        Path file = folder.resolve("counters");
        Counters.create(file, 1, 1).increment(Counter.LOADS);

        Counters.create(file, 2, 2);

        assertThat(CountersDescriptor.read(file).counters()).containsEntry("loads", 0L);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .endsWith("---");
    }

    @Test
    void anAbsentFileIsNoDaemon() {
        assertCode(folder.resolve("none"), ErrorCode.NO_DAEMON, "larder serve");
    }

    @Test
    void aFileThatIsNotReadyYetIsNoDaemonYet() throws IOException {
        Path file = Files.write(folder.resolve("counters"), new byte[CountersDescriptor.FILE_LENGTH]);

        assertCode(file, ErrorCode.NO_DAEMON, "not ready");
    }

    @Test
    void aFileOfAnotherLayoutIsRefused() throws IOException {
        Path file = folder.resolve("counters");
        Counters.create(file, 1, 1);
        byte[] bytes = Files.readAllBytes(file);
        bytes[8] = 9;
        Files.write(file, bytes);

        assertCode(file, ErrorCode.BAD_INPUT, "unknown layout");
        Files.write(file, Arrays.copyOf(bytes, 100));
        assertCode(file, ErrorCode.BAD_INPUT, "unknown layout");
    }

    private static void assertCode(Path file, ErrorCode code, String message) {
        assertThatThrownBy(() -> CountersDescriptor.read(file))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(message);
    }
}
