package dev.larder.server;

import static dev.larder.server.GroupStore.GROUP;
import static dev.larder.server.GroupStore.QUOTA;
import static dev.larder.server.StoreKind.EXT4;
import static dev.larder.server.StoreKind.OVERLAY;
import static dev.larder.server.StoreKind.TMPFS_ALWAYS;
import static dev.larder.server.StoreKind.USUAL;
import static dev.larder.server.StoreUser.MEMBER;
import static dev.larder.server.StoreUser.OTHER_MEMBER;
import static dev.larder.server.StoreUser.OWNER;
import static dev.larder.server.StoreUser.STRANGER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** A daemon, two members of its group and a stranger, each a user of its own. */
@Timeout(240)
class GroupStoreTest {
    @StoreMatrix(
            on = USUAL,
            as = {MEMBER, STRANGER})
    void membersUseTheStoreAsItsOwnerDoesAndStrangersAreRefused(GroupStore store, StoreUser user) {
        requireRights(store, user);
    }

    @Tag("slow")
    @StoreMatrix(
            on = {TMPFS_ALWAYS, EXT4, OVERLAY},
            as = {OWNER, MEMBER, STRANGER})
    void rightsAreTheSameOnEveryFileSystem(GroupStore store, StoreUser user) {
        requireRights(store, user);
    }

    private static void requireRights(GroupStore store, StoreUser user) {
        store.start(GROUP);
        store.ask(OWNER, "askDaemonToLoad ints " + store.source(OWNER, "ints", 7));

        List<String> answers = store.ask(
                user,
                "list",
                "read ints/ints",
                "verify ints",
                "load own " + store.source(user, "own", 11),
                "read own/own",
                "create made",
                "evict own");

        if (user == STRANGER) {
            assertThat(answers)
                    .hasSize(7)
                    .allMatch(line -> line.startsWith("REFUSED the store belongs to another user"))
                    .allMatch(line -> line.contains("ownerUid=" + OWNER.uid()) && line.contains("uid=" + user.uid()));
        } else {
            assertThat(answers).containsExactly("ok 1", "ok 7", "ok 1", "ok 1", "ok 11", "ok published", "ok 1");
        }
    }

    @StoreMatrix(on = USUAL)
    void withoutAGroupNobodyElseIsLetIn(GroupStore store) {
        store.start();
        store.ask(OWNER, "askDaemonToLoad ints " + store.source(OWNER, "ints", 7));

        assertThat(store.ask(MEMBER, "list", "read ints/ints"))
                .allMatch(line -> line.startsWith("REFUSED the store belongs"));
        assertThatThrownBy(() -> store.served().control().list("", false))
                .as("root may, but does not trust what another user could have planted")
                .hasMessageContaining("the store belongs to another user");
    }

    @Tag("slow")
    @StoreMatrix(on = USUAL)
    void membersLoadWhatOnlyTheyCanRead(GroupStore store) {
        store.start(GROUP);
        Path source = store.source(MEMBER, "secret", 11);

        assertThat(store.ask(OWNER, "askDaemonToLoad a " + source).get(0)).startsWith("BAD_INPUT");
        assertThat(store.ask(MEMBER, "load a " + source, "read a/secret")).containsExactly("ok 1", "ok 11");
        assertThat(store.ask(OTHER_MEMBER, "read a/secret")).containsExactly("ok 11");
        assertThat(store.served().control().info("a").get(0).source()).isEqualTo(source.toString());
        assertThat(store.ask(MEMBER, "load a " + source, "read a/secret", "evict a"))
                .as("its own to replace and to evict")
                .containsExactly("ok 1", "ok 11", "ok 1");
    }

    @Tag("slow")
    @StoreMatrix(on = USUAL)
    void whatSomebodyElsePublishedIsNotTheirsToChange(GroupStore store) {
        store.start(GROUP);
        store.ask(OWNER, "askDaemonToLoad owned " + store.source(OWNER, "ints", 7));
        store.ask(MEMBER, "load adas " + store.source(MEMBER, "ints", 8));

        for (String change : List.of("evict ", "pin ", "hold ")) {
            assertThat(store.ask(OTHER_MEMBER, change + "owned").get(0))
                    .startsWith("REFUSED the dataset belongs to another user")
                    .contains("uid=" + OTHER_MEMBER.uid(), "publisherUid=" + OWNER.uid());
            assertThat(store.ask(OTHER_MEMBER, change + "adas").get(0))
                    .contains("uid=" + OTHER_MEMBER.uid(), "publisherUid=" + MEMBER.uid());
        }
        assertThat(store.ask(OWNER, "evict adas")).containsExactly("ok 1");
    }

    @Tag("slow")
    @StoreMatrix(on = USUAL)
    void whatTheOwnerHasEvictedIsStillNotTheirsToTake(GroupStore store) {
        store.start(GROUP);
        store.ask(OWNER, "askDaemonToLoad owned " + store.source(OWNER, "ints", 7), "evict owned");

        assertThat(store.ask(OTHER_MEMBER, "forget owned", "evict owned", "create owned"))
                .allMatch(line -> line.startsWith("REFUSED the dataset belongs to another user"))
                .allMatch(line -> line.contains("publisherUid=" + OWNER.uid()));
        assertThat(store.ask(OTHER_MEMBER, "read owned/ints")).containsExactly("ok 7");
        assertThat(store.ask(OWNER, "evict owned", "forget owned")).hasSize(2).allMatch(line -> line.startsWith("ok"));
        assertThat(store.ask(OTHER_MEMBER, "create owned"))
                .as("nobody's any more")
                .containsExactly("ok published");
    }

    @StoreMatrix(on = USUAL)
    void onlyTheOwnerStopsReloadsAndSeesErrors(GroupStore store) {
        store.start(GROUP);
        Path source = store.source(MEMBER, "ints", 8);
        store.ask(MEMBER, "load adas " + source);

        List<String> refusals =
                store.ask(MEMBER, "stop", "errors", "reload adas", "verifySources adas", "askDaemonToLoad b " + source);

        assertThat(refusals)
                .hasSize(5)
                .allMatch(line -> line.startsWith("REFUSED only the owner of the store may do that"))
                .allMatch(line -> line.contains("uid=" + MEMBER.uid()) && line.contains("ownerUid=" + OWNER.uid()));
        assertThat(store.ask(MEMBER, "loadInPlace c " + source).get(0)).startsWith("REFUSED");
    }

    @Tag("slow")
    @StoreMatrix(on = USUAL)
    void theQuotaIsForAllMembersTogetherAndTellsItsNumbers(GroupStore store) {
        store.start(GROUP);
        Path large = store.largeSource(MEMBER, 5 << 20);
        Path other = store.largeSource(OTHER_MEMBER, 5 << 20);
        store.ask(MEMBER, "load a " + large);

        assertThat(store.ask(OTHER_MEMBER, "load b " + other).get(0))
                .startsWith("NO_SPACE the group's quota is not enough")
                .contains("quota=" + QUOTA, "used=", "needed=");
        store.ask(MEMBER, "evict a");
        assertThat(store.ask(OTHER_MEMBER, "load b " + other, "evict b")).containsExactly("ok 1", "ok 1");
        assertThat(ServedStore.entries(store.served().layout().incoming())).isEmpty();
    }

    @Tag("slow")
    @StoreMatrix(on = USUAL)
    void thePublisherIsKeptOverARestart(GroupStore store) {
        ChildJvm first = store.start(GROUP);
        store.ask(MEMBER, "load adas " + store.source(MEMBER, "ints", 8));
        first.kill();
        store.start(GROUP);

        assertThat(store.ask(OTHER_MEMBER, "evict adas").get(0)).startsWith("REFUSED");
        assertThat(store.ask(MEMBER, "evict adas")).containsExactly("ok 1");
    }

    @Tag("slow")
    @StoreMatrix(on = USUAL)
    void aMemberSeesAndTouchesNothingOfAnothersBuild(GroupStore store) {
        store.start(GROUP);
        ChildJvm ada = store.launch(MEMBER, "hold adas");
        Path place = Path.of(ada.awaitLine("building ").split(" ", -1)[1]);
        String name = store.served().root().relativize(place).toString();

        assertThat(store.ask(OTHER_MEMBER, "prowl incoming", "prowl " + name))
                .containsExactly("AccessDeniedException", "AccessDeniedException");
        assertThat(store.ask(MEMBER, "prowl incoming", "plant x"))
                .containsExactly("AccessDeniedException", "AccessDeniedException");
        assertThat(place.getFileName().toString()).matches("\\d+-[0-9a-f]{32}");
        ada.kill();
        Awaitility.await()
                .untilAsserted(() -> assertThat(
                                ServedStore.entries(store.served().layout().incoming()))
                        .isEmpty());
    }

    @StoreMatrix(on = USUAL)
    void whoWritesMoreThanAnnouncedLosesTheBuild(GroupStore store) {
        store.start(GROUP);

        assertThat(store.ask(MEMBER, "overflow x").get(0))
                .startsWith("REFUSED a file is longer than was announced")
                .contains("announced=", "found=");
        assertThat(ServedStore.entries(store.served().layout().incoming())).isEmpty();
    }

    @StoreMatrix(on = USUAL)
    void whatIsStillOpenForWritingIsPublishedAsACopy(GroupStore store) {
        store.start(GROUP);

        assertThat(store.ask(MEMBER, "cling x")).containsExactly("ok published");

        assertThat(store.ask(OTHER_MEMBER, "read x/x")).containsExactly("ok 0");
    }

    @StoreMatrix(on = USUAL)
    void oneMemberCannotKeepTheOthersOut(GroupStore store) {
        store.start(GROUP);
        ChildJvm crowd = store.launch(MEMBER, "crowd 1000");
        crowd.awaitLine("connected");

        assertThat(store.ask(OTHER_MEMBER, "list")).containsExactly("ok 0");
        assertThat(store.served().control().list("", true)).isEmpty();
        String admitted = crowd.awaitLine("ok ").substring(3);
        assertThat(Integer.parseInt(admitted))
                .isBetween(128, 900); // those that ask nothing for five seconds give their places to others
    }

    @Tag("slow")
    @StoreMatrix(on = USUAL)
    void theStoreIsOpenToNobodyElseWhateverTheGroupWasBefore(GroupStore store) throws IOException {
        ChildJvm first = store.start(GROUP);
        store.ask(OWNER, "askDaemonToLoad ints " + store.source(OWNER, "ints", 7));
        assertModes(store, "rwxr-x---", "r--r-----");
        first.kill();

        ChildJvm second = store.start();
        assertModes(store, "rwx------", "r--------");
        second.kill();

        store.start(GROUP);
        assertThat(store.ask(MEMBER, "read ints/ints")).containsExactly("ok 7");
        assertModes(store, "rwxr-x---", "r--r-----");
    }

    private static void assertModes(GroupStore store, String folders, String files) throws IOException {
        try (Stream<Path> entries = Files.walk(store.served().layout().version("ints", 1))) {
            for (Path entry : (Iterable<Path>) entries::iterator) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(entry)))
                        .as(entry.toString())
                        .isEqualTo(Files.isDirectory(entry) ? folders : files);
            }
        }
    }
}
