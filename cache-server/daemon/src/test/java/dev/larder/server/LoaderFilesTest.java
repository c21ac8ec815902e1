package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a daemon does about the counters that loaders make in its store. */
class LoaderFilesTest {
    private static final Posix POSIX = Posix.system();

    private final ServedStore served = ServedStore.create();

    @AfterEach
    void close() {
        served.close();
    }

    private static int create(StoreLayout layout, String name) {
        int lock = POSIX.openOrCreate(layout.loaders().resolve(name), 0600);
        assertThat(POSIX.tryLockExclusive(lock)).isTrue();
        return lock;
    }

    @Test
    void countersGoSoonAfterTheirProcessDiedAndTheLivingStay() {
        served.start();
        int dead = create(served.layout(), "1-a");
        int living = create(served.layout(), "2-b");

        POSIX.close(dead);

        await().until(() -> ServedStore.entries(served.layout().loaders()).equals(List.of("2-b")));
        POSIX.close(living);
    }

    @Test
    void allElseInTheFolderGoesAndLinksAreNotFollowed() throws IOException {
        served.start();
        Path kept = Files.writeString(served.root().resolve("kept"), "");
        Path loaders = served.layout().loaders();
        Files.createSymbolicLink(loaders.resolve("link"), kept);
        Files.createDirectories(loaders.resolve("folder/of/a/member"));

        await().until(() -> ServedStore.entries(loaders).isEmpty());
        assertThat(kept).exists();
        Files.delete(kept);
    }
}
