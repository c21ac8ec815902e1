package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.lock.StoreLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store on an ordinary file system, for what is larger than memory. */
class DiskStoreTest {
    @TempDir
    Path folder;

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
}
