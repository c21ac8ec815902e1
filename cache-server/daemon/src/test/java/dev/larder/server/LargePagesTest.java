package dev.larder.server;

import static dev.larder.server.StoreKind.TMPFS_ADVISE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Daemon and client with the pages of some kernels on Arm: 64 KiB, and huge ones of 512 MiB. */
@Timeout(300)
class LargePagesTest {
    private static final int MIB = 1 << 20;
    private static final int PAGE_BYTES = 64 << 10;

    @TempDir
    Path sources;

    @StoreMatrix(on = TMPFS_ADVISE)
    void bytesArriveAsTheyAreWithPagesOf64Kib(ServedStore served) throws IOException {
        Path large = ServedStore.writeBytes(sources.resolve("large.npy"), 13 * MIB + 7);
        Path small = ServedStore.writeInts(sources.resolve("small.npy"), 1, 2, 3);
        byte[] built = new byte[5 * MIB];
        Arrays.fill(built, (byte) 7);

        List<String> printed = run(served);

        assertThat(printed)
                .containsExactlyInAnyOrder(
                        "loaded/large " + sumOf(endOf(large, 13 * MIB + 7)),
                        "loaded/small " + sumOf(endOf(small, 3 * Integer.BYTES)),
                        "built/data " + sumOf(built),
                        "verified=3",
                        "page=" + PAGE_BYTES,
                        "collapse=false");
    }

    private List<String> run(ServedStore served) {
        try (ChildJvm child = ChildJvm.start(
                System.getProperty("java.class.path"),
                Stream.concat(ChildJvm.libraryFlags().stream(), Stream.of("-Dlarder.page-bytes=" + PAGE_BYTES))
                        .toList(),
                LargePagesProgram.class.getName(),
                served.root().toString(),
                sources.toString())) {
            assertThat(child.awaitExit()).as(child.errors()).isZero();
            return child.remainingLines();
        }
    }

    private static byte[] endOf(Path file, int length) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        return Arrays.copyOfRange(bytes, bytes.length - length, bytes.length);
    }

    private static long sumOf(byte[] data) {
        CRC32C sum = new CRC32C();
        sum.update(data);
        return sum.getValue();
    }
}
