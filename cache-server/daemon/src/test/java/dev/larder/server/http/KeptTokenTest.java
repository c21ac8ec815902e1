package dev.larder.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.posix.Posix;
import dev.larder.testing.OtherUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A token that outlives its daemon, in a file that the owner has named. */
class KeptTokenTest {
    private static final String TOKEN = "0123456789abcdef-._~";

    @TempDir
    Path folder;

    private Path kept() {
        return folder.resolve("token");
    }

    private Path write(String text, String mode) throws IOException {
        Files.writeString(kept(), text);
        return Files.setPosixFilePermissions(kept(), PosixFilePermissions.fromString(mode));
    }

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private void assertRefused(ErrorCode code, String... words) {
        assertThatThrownBy(() -> AccessToken.fromFile(kept(), null))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining("file=" + kept())
                .hasMessageContainingAll(words);
    }

    @Test
    void anAbsentFileIsCreatedForTheOwnerAloneAndKeptFromStartToStart() throws IOException {
        String first = AccessToken.fromFile(kept(), null).text();

        assertThat(mode(kept())).isEqualTo("rw-------");
        assertThat(kept()).hasContent(first + "\n");
        assertThat(AccessToken.fromFile(kept(), null).text()).isEqualTo(first);
        assertThat(AccessToken.fromFile(folder.resolve("other"), null).text()).isNotEqualTo(first);
    }

    @Test
    void processesThatCreateTheFileAtTheSameTimeHaveOneToken() throws Exception {
        for (int round = 0; round < 50; round++) {
            Path file = folder.resolve("token-" + round);
            CountDownLatch start = new CountDownLatch(1);
            List<CompletableFuture<String>> all = Stream.generate(() -> CompletableFuture.supplyAsync(() -> {
                        awaitStart(start);
                        return AccessToken.fromFile(file, null).text();
                    }))
                    .limit(4)
                    .toList();

            start.countDown();

            assertThat(all)
                    .extracting(CompletableFuture::join)
                    .containsOnly(AccessToken.fromFile(file, null).text());
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).hasSize(50);
        }
    }

    private static void awaitStart(CountDownLatch start) {
        try {
            start.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void withAGroupANewFileIsForTheGroupAsWell() throws IOException {
        int group = (Integer) Files.getAttribute(folder, "unix:gid");

        AccessToken.fromFile(kept(), group);

        assertThat(mode(kept())).isEqualTo("rw-r-----");
        assertThat(Files.getAttribute(kept(), "unix:gid")).isEqualTo(group);
    }

    @ParameterizedTest
    @ValueSource(strings = {"r--------", "rw-------", "rw-r-----"})
    void aFileThatOthersCannotReadIsTakenAsItIs(String mode) throws IOException {
        write(TOKEN + "\n", mode);

        assertThat(AccessToken.fromFile(kept(), null).text()).isEqualTo(TOKEN);
        assertThat(mode(kept())).isEqualTo(mode);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r--r--", "rw-----w-", "rw-rw----", "rw------x"})
    void aFileThatOthersCanReadOrChangeIsRefused(String mode) throws IOException {
        write(TOKEN, mode);

        assertRefused(ErrorCode.REFUSED, "mode=", "chmod");
    }

    @Test
    void whatIsNoRegularFileIsRefused() throws IOException {
        Files.createSymbolicLink(kept(), Files.writeString(folder.resolve("real"), TOKEN));

        assertRefused(ErrorCode.REFUSED, "mode=no regular file");
    }

    @Test
    void aFileOfAnotherUserIsRefused() throws IOException {
        OtherUser.assumePossible();
        OtherUser.NOBODY.own(write(TOKEN, "rw-------"));

        assertRefused(ErrorCode.REFUSED, "uid=" + OtherUser.NOBODY.uid());
        assertThat(Posix.system().userId()).isNotEqualTo(OtherUser.NOBODY.uid());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "short", "with blanks in its text", "0123456789abcdef+/=", "0123456789abcdef\nsecond"})
    void aTextThatIsNoTokenIsRefused(String text) throws IOException {
        write(text, "rw-------");

        assertRefused(ErrorCode.BAD_INPUT, "characters=" + text.length(), "16 to 200");
    }

    @Test
    void theFileStaysAndTheCopyInTheStoreGoesWithTheDaemon() throws IOException {
        Path ofStore = folder.resolve("http.token");
        HttpEndpoint.TokenPlace place = new HttpEndpoint.TokenPlace(ofStore, write(TOKEN, "rw-------"), null);
        try (HttpEndpoint endpoint = HttpEndpoint.start(0, Set.of(), place, Map.of())) {
            assertThat(endpoint.address("/metrics").getQuery()).isEqualTo("token=" + TOKEN);
            assertThat(ofStore).hasContent(TOKEN);
            assertThat(mode(ofStore)).isEqualTo("rw-------");
        }
        assertThat(ofStore).doesNotExist();
        assertThat(kept()).hasContent(TOKEN);
    }
}
