package dev.larder.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreLocationTest {
    private static final int NOBODY = 65_534;
    private static final int ADA = 4711;
    private static final int GAMES = 60;

    @TempDir
    Path shm;

    @Test
    void aNamedStoreComesFirst() {
        assertThat(resolve(Path.of("/a/../b"), Map.of("LARDER_STORE", "/c"))).isEqualTo(Path.of("/b"));
        assertThat(resolve(Path.of("relative"), Map.of()))
                .isEqualTo(Path.of("relative").toAbsolutePath());
    }

    @Test
    void theEnvironmentComesNext() {
        assertThat(resolve(null, Map.of("LARDER_STORE", "/c/./d"))).isEqualTo(Path.of("/c/d"));
        assertThat(resolve(null, Map.of("LARDER_STORE", "e")))
                .isEqualTo(Path.of("e").toAbsolutePath());
    }

    @Test
    void aUserWithoutANameIsCalledByItsNumber() {
        assertThat(StoreLocation.userName("ada", ADA)).isEqualTo("ada");
        assertThat(List.of("?", "", " "))
                .allSatisfy(
                        none -> assertThat(StoreLocation.userName(none, ADA)).isEqualTo("4711"));
        assertThat(StoreLocation.userName(null, -2)).isEqualTo("4294967294");
    }

    @Test
    void anEmptyVariableCountsAsNone() {
        assertThat(resolve(null, Map.of("LARDER_STORE", ""))).isEqualTo(shm.resolve("larder-ada"));
    }

    @Test
    void ofThisProcessItIsSomeAbsolutePath() {
        assertThat(StoreLocation.resolve(null)).isAbsolute();
    }

    @Test
    void onesOwnFolderIsTrusted() {
        assertThatCode(() -> StoreLocation.requireTrustedOwner(shm)).doesNotThrowAnyException();
    }

    @Test
    void theFolderOfAnotherIsNotUnlessItIsTheService() throws IOException {
        giveAway(shm);
        String owner = Files.getOwner(shm).getName();

        assertRefused(shm, Map.of());
        assertRefused(shm, Map.of(StoreLocation.SERVICE_USER_VARIABLE, "somebody-else"));
        assertThatCode(() -> StoreLocation.requireTrustedOwner(
                        shm, ada(0, Map.of(StoreLocation.SERVICE_USER_VARIABLE, owner))))
                .doesNotThrowAnyException();
    }

    @Test
    void aLinkThatAnotherPutThereIsNotFollowed() throws IOException {
        Path mine = Files.createDirectory(shm.resolve("mine"));
        Path link = Files.createSymbolicLink(shm.resolve("link"), mine);
        giveAway(link);

        assertRefused(link, Map.of());
    }

    @Test
    void ownersThatCannotBeToldAreRefused() {
        assertThatThrownBy(() -> StoreLocation.requireTrustedOwner(shm.resolve("absent")))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                .hasMessageContaining("cannot read the owner of the store");
    }

    private static void giveAway(Path path) throws IOException {
        Assumptions.assumeTrue(Posix.system().userId() == 0, "only root can give a file away");
        Files.setAttribute(path, "unix:uid", NOBODY, LinkOption.NOFOLLOW_LINKS);
    }

    private void assertRefused(Path store, Map<String, String> environment) {
        assertRefused(store, ada(0, environment));
    }

    @Test
    void aStoreThatWasOpenedToOnesGroupIsTrustedWhereItWasNamed() throws IOException {
        Path store = sharedWith(shm.resolve("of-grace"), GAMES);

        assertThatCode(() -> StoreLocation.requireTrustedOwner(store, ada(GAMES, Map.of())))
                .doesNotThrowAnyException();
        assertRefused(store, ada(GAMES + 1, Map.of()));
        assertThatThrownBy(() -> StoreLocation.requireTrustedOwner(store, ada(GAMES + 1, Map.of())))
                .hasMessageContaining("; ask to join its group and log in again: group="
                        + StoreOwner.of(store).group())
                .message()
                .doesNotContain(StoreLocation.SERVICE_USER_VARIABLE);
        Files.setAttribute(store, "unix:mode", 0755);
        assertRefused(store, ada(GAMES, Map.of()));
    }

    @Test
    void aStoreWhereLarderLooksByItselfIsNotTrustedForItsGroup() throws IOException {
        Path own = sharedWith(shm.resolve("larder-ada"), GAMES);
        Path service = sharedWith(shm.resolve("larder"), GAMES);

        assertRefused(own, ada(GAMES, Map.of()));
        assertRefused(service, ada(GAMES, Map.of()));
        assertThatCode(() -> StoreLocation.requireTrustedOwner(
                        service, ada(GAMES, Map.of(StoreLocation.STORE_VARIABLE, service.toString()))))
                .doesNotThrowAnyException();
    }

    @Test
    void theServicesStoreIsTrustedWhereItBelongsToASystemAccount() throws IOException {
        Path service = sharedWith(shm.resolve("larder"), GAMES);
        Files.setAttribute(service, "unix:uid", 999);

        assertThatCode(() -> StoreLocation.requireTrustedOwner(service, ada(GAMES, Map.of())))
                .doesNotThrowAnyException();
    }

    private static Path sharedWith(Path store, int group) throws IOException {
        Files.createDirectory(store);
        giveAway(store);
        Files.setAttribute(store, "unix:gid", group);
        Files.setAttribute(store, "unix:mode", 02750);
        return store;
    }

    private StoreLocation.Caller ada(int group, Map<String, String> environment) {
        return new StoreLocation.Caller(ADA, "ada", List.of(group), environment, List.of(shm), () -> 0);
    }

    private static void assertRefused(Path store, StoreLocation.Caller caller) {
        assertThatThrownBy(() -> StoreLocation.requireTrustedOwner(store, caller))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                .hasMessageContaining("belongs to another user: store=" + store + " owner=")
                .hasMessageContaining("user=ada uid=" + ADA);
    }

    private Path resolve(@Nullable Path named, Map<String, String> environment) {
        return StoreLocation.resolve(named, ada(0, environment));
    }
}
