package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Larder;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.testing.Folders;
import dev.larder.testing.OtherUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What may lie in a store that no daemon has put there. */
@Timeout(300)
class PlantedFilesTest {
    private ServedStore served;

    @TempDir
    private Path folder;

    @BeforeEach
    void publish() {
        served = ServedStore.create();
        Daemon daemon = served.start();
        served.load("ints", ServedStore.writeInts(folder.resolve("ints.npy"), 5));
        daemon.stop(true);
    }

    @AfterEach
    void stop() {
        served.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {StoreLayout.INDEX, StoreLayout.MANIFEST, StoreLayout.LEASE, "ints.npy"})
    void aPipeInPlaceOfAFileHoldsNobodyUp(String file) throws Exception {
        Path planted = version().resolve(file);
        Files.delete(planted);
        makePipe(planted);

        served.start();

        assertNothingServed();
    }

    @ParameterizedTest
    @ValueSource(strings = {StoreLayout.INDEX, "ints.npy"})
    void aLinkInPlaceOfAFileIsNotFollowed(String file) throws IOException {
        Path kept = Files.move(version().resolve(file), folder.resolve("kept"));
        Files.createSymbolicLink(version().resolve(file), kept);

        served.start();

        assertNothingServed();
        assertThat(kept).exists();
    }

    @ParameterizedTest
    @ValueSource(strings = {StoreLayout.INDEX, "ints.npy"})
    void whatBelongsToAnotherIsNotServed(String file) {
        OtherUser.assumePossible();
        new OtherUser(4101, 4101).own(version().resolve(file));

        served.start();

        assertNothingServed();
    }

    @ParameterizedTest
    @ValueSource(strings = {"data", "incoming"})
    void aFolderThatIsALinkLeadsNowhere(String name) throws IOException {
        Path elsewhere = Files.createDirectories(folder.resolve("elsewhere/1"));
        Folders.remove(served.root().resolve(name));
        Files.createSymbolicLink(served.root().resolve(name), folder.resolve("elsewhere"));

        served.start();

        assertThat(elsewhere).exists();
        assertThat(served.root().resolve(name)).isDirectory();
        assertThat(Files.isSymbolicLink(served.root().resolve(name))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"../../../elsewhere", "/etc", "1/../1", "nonsense"})
    void theTextOfCurrentIsANumberOrNothing(String text) throws IOException {
        served.start();
        Path current = served.layout().current("ints");
        Files.delete(current);
        Files.createSymbolicLink(current, Path.of(text));

        try (Larder larder = Larder.connect(served.root())) {
            assertThatThrownBy(
                            () -> larder.dataset("ints", Duration.ofSeconds(5)).close())
                    .isInstanceOf(LarderException.class);
        }
    }

    @Test
    void aPipeInPlaceOfALeaseIsRefusedByReaders() throws Exception {
        served.start();
        Path lease = version().resolve(StoreLayout.LEASE);
        Files.delete(lease);
        makePipe(lease);

        try (Larder larder = Larder.connect(served.root())) {
            assertThatThrownBy(() -> larder.dataset("ints").close())
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("the lease is not a regular file");
        }
    }

    @Test
    void aStoreThatAnotherHasMadeIsRefusedAndLeftAlone() throws IOException {
        OtherUser.assumePossible();
        Path squatted = new OtherUser(4101, 4101).own(Files.createDirectory(folder.resolve("squatted")));

        assertThatThrownBy(() -> ServedStore.at(squatted).start())
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("belongs to another user")
                .hasMessageContaining("ownerUid=4101")
                .hasMessageContaining("uid=0");
        assertThat(ServedStore.entries(squatted)).isEmpty();
    }

    @Test
    void aLockThatIsALinkIsNotFollowed() throws IOException {
        Path target = Files.writeString(folder.resolve("target"), "precious");
        Files.delete(served.layout().lock());
        Files.createSymbolicLink(served.layout().lock(), target);

        assertThatThrownBy(() -> served.start()).isInstanceOf(LarderException.class);
        assertThat(target).hasContent("precious");
        Files.delete(served.layout().lock());
    }

    private void assertNothingServed() {
        assertThat(served.control().list("", true)).allMatch(row -> row.state() == ArrayRow.State.REGISTERED);
    }

    private Path version() {
        Path version = served.layout().version("ints", 1);
        assertThat(Files.isDirectory(version, LinkOption.NOFOLLOW_LINKS)).isTrue();
        return version;
    }

    private static void makePipe(Path path) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("mkfifo", path.toString()).start().waitFor())
                .isZero();
    }
}
