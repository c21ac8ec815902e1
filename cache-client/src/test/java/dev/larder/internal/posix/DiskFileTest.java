package dev.larder.internal.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskFileTest {
    private static final Posix POSIX = Posix.system();

    private final ByteBuffer memory = ByteBuffer.allocateDirect(16);
    private final long address = BulkIo.system().addressOf(memory);

    @TempDir
    Path folder;

    private DiskFile file(String content) throws IOException {
        return DiskFile.openAny(POSIX, Files.writeString(folder.resolve("rows"), content));
    }

    @Test
    void rowsAreReadWhereverTheyBegin() throws IOException {
        try (DiskFile file = file("abcdefgh")) {
            file.readAhead(3, 4);
            file.read(1, 3, address + 1, 4);
        }

        assertThat(memory.get(0)).isZero();
        assertThat(memory.getInt(1)).isEqualTo(0x64656667);
    }

    @Test
    void aFileThatHasBecomeShorterIsNamedWithTheRow() throws IOException {
        try (DiskFile file = file("abcdefgh")) {
            assertThatThrownBy(() -> file.read(7, 6, address, 4))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CHECKSUM))
                    .hasMessageStartingWith(
                            "row not read: file=" + folder.resolve("rows") + " row=7 offset=8 fileBytes=8;");
        }
    }

    /** Address 0 of this process is not mapped, and the kernel answers EIO. */
    @Test
    void aDiskThatFailsIsNamedWithTheRow() {
        try (DiskFile file = DiskFile.openAny(POSIX, Path.of("/proc/self/mem"))) {
            assertThatThrownBy(() -> file.read(7, 0, address, 4))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNEXPECTED))
                    .hasMessageStartingWith(
                            "row not read: file=/proc/self/mem row=7 offset=0 errno=5 reason=Input/output error;");
        }
    }

    @Test
    void filesInMemoryAreNotRead() throws IOException {
        Path inMemory = Files.createTempFile(Path.of("/dev/shm"), "larder-test-", "");
        try {
            assertThat(DiskFile.open(POSIX, inMemory)).isNull();
        } finally {
            Files.delete(inMemory);
        }
    }

    private void write(String path, String text) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    @Test
    void aRequestIsAsLongAsTheDeviceAllows() throws IOException {
        write("devices/sda/queue/read_ahead_kb", "128\n");
        write("devices/sda/queue/max_sectors_kb", "1280\n");
        Files.createDirectories(folder.resolve("devices/sda/sda1"));
        Files.createDirectories(folder.resolve("dev/block"));
        Files.createSymbolicLink(folder.resolve("dev/block/8:0"), Path.of("../../devices/sda"));
        Files.createSymbolicLink(folder.resolve("dev/block/8:1"), Path.of("../../devices/sda/sda1"));
        write("class/bdi/0:50/read_ahead_kb", "16\n");

        assertThat(DiskFile.requestBytes(folder, "8:0")).isEqualTo(1280 << 10);
        assertThat(DiskFile.requestBytes(folder, "8:1")).isEqualTo(1280 << 10);
        assertThat(DiskFile.requestBytes(folder, "0:50")).isEqualTo(16 << 10);
        assertThat(DiskFile.requestBytes(folder, "0:51")).isEqualTo(128 << 10);
    }

    @Test
    void theWaitsOfAThreadAreCounted() throws InterruptedException {
        ThreadUsage usage = new ThreadUsage();
        usage.update();
        long before = usage.waits();

        Thread.sleep(1);
        usage.update();

        assertThat(usage.waits()).isGreaterThan(before);
        assertThat(usage.majorFaults()).isNotNegative();
    }
}
