package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.lock.StoreLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store on an ordinary file system, for what is larger than memory. */
class DiskStoreTest {
    private static final int BYTES = 3 << 20;

    @TempDir
    Path folder;

    @Test
    void dataIsReservedWrittenReadAndRemoved() throws Exception {
        Path source = ServedStore.writeBytes(folder.resolve("a.npy"), BYTES);
        try (ServedStore served = ServedStore.at(folder.resolve("store"))) {
            Daemon daemon = served.start();
            served.load("d", source);

            try (Larder larder = Larder.connect(served.root());
                    OwnedArrayView view = larder.open("d")) {
                assertThat(view.getInt(BYTES - 1)).isEqualTo((BYTES - 1) % 251);
            }
            assertThat(Files.getFileStore(served.root()).type()).isNotEqualTo("tmpfs");
            assertThat(served.control().status().usedBytes()).isGreaterThanOrEqualTo(BYTES);
            daemon.stop(false);
            assertThat(served.root()).doesNotExist();
        }
    }

    @Test
    void aProgramThatRemovesOldFilesSeesThatTheFolderIsInUse() {
        Posix posix = Posix.system();
        try (ServedStore served = ServedStore.at(folder.resolve("store"))) {
            Daemon daemon = served.start();
            int folder = posix.openForReading(served.root());

            assertThat(posix.tryLockExclusive(folder)).isFalse();
            daemon.stop(true);
            assertThat(posix.tryLockExclusive(folder)).isTrue();
            posix.close(folder);
        }
    }

    @Test
    void aMemberThatLocksTheFolderOfItsGroupStopsNoDaemon() throws IOException {
        Posix posix = Posix.system();
        Path store = Files.createDirectory(folder.resolve("store"));
        Files.setAttribute(store, "unix:mode", 02750);
        int member = posix.openForReading(store);
        assertThat(posix.tryLockExclusive(member)).isTrue();

        StoreLock.take(posix, new StoreLayout(store)).close();

        posix.close(member);
    }

    @Test
    void whatIsLargerThanItsCapacityIsRefused() {
        Path source = ServedStore.writeBytes(folder.resolve("a.npy"), BYTES);
        try (ServedStore served = ServedStore.at(folder.resolve("store"))) {
            served.start(OptionalLong.of(BYTES / 2));

            assertThatThrownBy(() -> served.load("d", source))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));
            assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
        }
    }
}
