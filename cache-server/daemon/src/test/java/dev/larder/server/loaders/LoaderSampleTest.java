package dev.larder.server.loaders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.LoaderDescriptor.Facts;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that a member of the store's group wrote by itself. */
class LoaderSampleTest {
    private static final int ROWS = 2;

    @TempDir
    Path store;

    private static byte[] file(long count) {
        byte[] bytes = new byte[LoaderDescriptor.fileLength(ROWS)];
        UnsafeBuffer file = new UnsafeBuffer(bytes);
        LoaderDescriptor.write(file, new Facts(1, 1, System.nanoTime(), 1, 2, 4, 16, 2, 4, "d", ""), ROWS);
        for (int row = 0; row < ROWS; row++) {
            int at = LoaderDescriptor.rowOffset(row);
            file.putInt(at, LoaderDescriptor.ROLE_CONSUMER, ByteOrder.LITTLE_ENDIAN);
            for (int offset = Long.BYTES; offset < LoaderDescriptor.ROW_LENGTH; offset += Long.BYTES) {
                file.putLong(at + offset, count, ByteOrder.LITTLE_ENDIAN);
            }
        }
        return bytes;
    }

    @Test
    void impossibleCountsAreZero() throws IOException {
        for (long count : List.of(
                -1L,
                Long.MIN_VALUE,
                Long.MAX_VALUE,
                Double.doubleToRawLongBits(-1e300),
                Double.doubleToRawLongBits(Double.NEGATIVE_INFINITY))) {
            Path file =
                    Files.createDirectories(new StoreLayout(store).loaders()).resolve("1-" + count);
            int lock = Posix.system().openForReading(Files.write(file, file(count)));
            assertThat(Posix.system().tryLockExclusive(lock)).isTrue();

            LoaderRow row = new LoaderWatch(new StoreLayout(store)).look().get(0);

            assertThat(row.batches()).isZero();
            assertThat(row.bottleneck().cause()).isEqualTo(Cause.TRAINER);
            Posix.system().close(lock);
        }
    }
}
