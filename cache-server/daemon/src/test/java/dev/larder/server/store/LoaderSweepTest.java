package dev.larder.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.testing.RefusingPosix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoaderSweepTest {
    @TempDir
    Path root;

    @Test
    void aDaemonWithTooManyOpenFilesRemovesNoCounters() throws IOException {
        StoreLayout layout = new StoreLayout(root);
        LoaderFiles.makeFolder(layout);
        Path file = Files.createFile(layout.loaders().resolve("1-a"));

        LoaderFiles.sweep(RefusingPosix.refusing("openForReading", new AtomicInteger(1)), layout);
        assertThat(file).exists();

        LoaderFiles.sweep(Posix.system(), layout);
        assertThat(file).doesNotExist();
    }
}
