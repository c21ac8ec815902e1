package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.testing.ChildJvm;
import dev.larder.testing.OtherUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A daemon, two members of its group and a stranger, each a user of its own. */
@Timeout(240)
class GroupStoreTest {
    private static final String GROUP = "games";
    private static final int GAMES = 60;
    private static final OtherUser OWNER = new OtherUser(4100, GAMES);
    private static final OtherUser ADA = new OtherUser(4101, GAMES);
    private static final OtherUser BOB = new OtherUser(4102, GAMES);
    private static final OtherUser STRANGER = new OtherUser(4103, 4103);
    private static final String QUOTA = Long.toString(8 << 20);
    private static final String CAPACITY = Long.toString(64 << 20);

    @TempDir
    static Path jars;

    private static String classPath = "";

    private final List<ChildJvm> children = new ArrayList<>();
    private ServedStore served;

    @TempDir
    private Path folder;

    @BeforeAll
    static void makeClassPathReadable() throws IOException {
        OtherUser.assumePossible();
        openToAll(jars);
        classPath = OtherUser.readableClassPath(jars);
    }

    @BeforeEach
    void makeFolders() throws IOException {
        served = ServedStore.create();
        OWNER.own(served.root());
        openToAll(folder);
    }

    @AfterEach
    void stop() {
        children.forEach(ChildJvm::close);
        served.close();
    }

    @Test
    void membersReadWhatTheOwnerLoadedAndStrangersAreRefused() throws IOException {
        start(GROUP);
        ask(OWNER, "askDaemonToLoad ints " + source(OWNER, "ints", 7));

        assertThat(ask(ADA, "list", "read ints/ints", "verify ints")).containsExactly("ok 1", "ok 7", "ok 1");
        for (String refusal : ask(STRANGER, "list", "read ints/ints")) {
            assertThat(refusal)
                    .startsWith("REFUSED the store belongs to another user")
                    .contains("ownerUid=" + OWNER.uid(), "uid=" + STRANGER.uid());
        }
    }

    @Test
    void withoutAGroupNobodyElseIsLetIn() throws IOException {
        start();
        ask(OWNER, "askDaemonToLoad ints " + source(OWNER, "ints", 7));

        assertThat(ask(ADA, "list", "read ints/ints")).allMatch(line -> line.startsWith("REFUSED the store belongs"));
        assertThatThrownBy(() -> served.control().list("", false))
                .as("root may, but does not trust what another user could have planted")
                .hasMessageContaining("the store belongs to another user");
    }

    @Tag("slow")
    @Test
    void membersLoadWhatOnlyTheyCanRead() throws IOException {
        start(GROUP);
        Path source = source(ADA, "secret", 11);

        assertThat(ask(OWNER, "askDaemonToLoad a " + source).get(0)).startsWith("BAD_INPUT");
        assertThat(ask(ADA, "load a " + source, "read a/secret")).containsExactly("ok 1", "ok 11");
        assertThat(ask(BOB, "read a/secret")).containsExactly("ok 11");
        assertThat(served.control().info("a").get(0).source()).isEqualTo(source.toString());
        assertThat(ask(ADA, "load a " + source, "read a/secret", "evict a"))
                .as("its own to replace and to evict")
                .containsExactly("ok 1", "ok 11", "ok 1");
    }

    @Tag("slow")
    @Test
    void whatSomebodyElsePublishedIsNotTheirsToChange() throws IOException {
        start(GROUP);
        ask(OWNER, "askDaemonToLoad owned " + source(OWNER, "ints", 7));
        ask(ADA, "load adas " + source(ADA, "ints", 8));

        for (String change : List.of("evict ", "pin ", "hold ")) {
            assertThat(ask(BOB, change + "owned").get(0))
                    .startsWith("REFUSED the dataset belongs to another user")
                    .contains("uid=" + BOB.uid(), "publisherUid=" + OWNER.uid());
            assertThat(ask(BOB, change + "adas").get(0)).contains("uid=" + BOB.uid(), "publisherUid=" + ADA.uid());
        }
        assertThat(ask(OWNER, "evict adas")).containsExactly("ok 1");
    }

    @Tag("slow")
    @Test
    void whatTheOwnerHasEvictedIsStillNotTheirsToTake() throws IOException {
        start(GROUP);
        ask(OWNER, "askDaemonToLoad owned " + source(OWNER, "ints", 7), "evict owned");

        assertThat(ask(BOB, "forget owned", "evict owned", "create owned"))
                .allMatch(line -> line.startsWith("REFUSED the dataset belongs to another user"))
                .allMatch(line -> line.contains("publisherUid=" + OWNER.uid()));
        assertThat(ask(BOB, "read owned/ints")).containsExactly("ok 7");
        assertThat(ask(OWNER, "evict owned", "forget owned")).hasSize(2).allMatch(line -> line.startsWith("ok"));
        assertThat(ask(BOB, "create owned")).as("nobody's any more").containsExactly("ok published");
    }

    @Test
    void onlyTheOwnerStopsReloadsAndSeesErrors() throws IOException {
        start(GROUP);
        Path source = source(ADA, "ints", 8);
        ask(ADA, "load adas " + source);

        List<String> refusals =
                ask(ADA, "stop", "errors", "reload adas", "verifySources adas", "askDaemonToLoad b " + source);

        assertThat(refusals)
                .hasSize(5)
                .allMatch(line -> line.startsWith("REFUSED only the owner of the store may do that"))
                .allMatch(line -> line.contains("uid=" + ADA.uid()) && line.contains("ownerUid=" + OWNER.uid()));
        assertThat(ask(ADA, "loadInPlace c " + source).get(0)).startsWith("REFUSED");
    }

    @Tag("slow")
    @Test
    void theQuotaIsForAllMembersTogetherAndTellsItsNumbers() throws IOException {
        start(GROUP);
        Path large = ADA.own(ServedStore.writeBytes(folder.resolve("large.npy"), 5 << 20));
        Path other = BOB.own(ServedStore.writeBytes(folder.resolve("other.npy"), 5 << 20));
        ask(ADA, "load a " + large);

        assertThat(ask(BOB, "load b " + other).get(0))
                .startsWith("NO_SPACE the group's quota is not enough")
                .contains("quota=" + QUOTA, "used=", "needed=");
        ask(ADA, "evict a");
        assertThat(ask(BOB, "load b " + other, "evict b")).containsExactly("ok 1", "ok 1");
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
    }

    @Tag("slow")
    @Test
    void thePublisherIsKeptOverARestart() throws IOException {
        ChildJvm first = start(GROUP);
        ask(ADA, "load adas " + source(ADA, "ints", 8));
        first.kill();
        start(GROUP);

        assertThat(ask(BOB, "evict adas").get(0)).startsWith("REFUSED");
        assertThat(ask(ADA, "evict adas")).containsExactly("ok 1");
    }

    @Tag("slow")
    @Test
    void aMemberSeesAndTouchesNothingOfAnothersBuild() throws IOException {
        start(GROUP);
        ChildJvm ada = launch(ADA, "hold adas");
        Path place = Path.of(ada.awaitLine("building ").split(" ", -1)[1]);
        String name = served.root().relativize(place).toString();

        assertThat(ask(BOB, "prowl incoming", "prowl " + name))
                .containsExactly("AccessDeniedException", "AccessDeniedException");
        assertThat(ask(ADA, "prowl incoming", "plant x"))
                .containsExactly("AccessDeniedException", "AccessDeniedException");
        assertThat(place.getFileName().toString()).matches("\\d+-[0-9a-f]{32}");
        ada.kill();
        Awaitility.await()
                .untilAsserted(
                        () -> assertThat(ServedStore.entries(served.layout().incoming()))
                                .isEmpty());
    }

    @Test
    void whoWritesMoreThanAnnouncedLosesTheBuild() throws IOException {
        start(GROUP);

        assertThat(ask(ADA, "overflow x").get(0))
                .startsWith("REFUSED a file is longer than was announced")
                .contains("announced=", "found=");
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
    }

    @Test
    void whatIsStillOpenForWritingIsPublishedAsACopy() throws IOException {
        start(GROUP);

        assertThat(ask(ADA, "cling x")).containsExactly("ok published");

        assertThat(ask(BOB, "read x/x")).containsExactly("ok 0");
        served.control().verify("x", progress -> {});
    }

    @Test
    void oneMemberCannotKeepTheOthersOut() throws IOException {
        start(GROUP);
        ChildJvm crowd = launch(ADA, "crowd 1000");
        crowd.awaitLine("connected");

        assertThat(ask(BOB, "list")).containsExactly("ok 0");
        assertThat(served.control().list("", true)).isEmpty();
        assertThat(crowd.awaitLine("ok ")).isEqualTo("ok 128");
    }

    @Tag("slow")
    @Test
    void theStoreIsOpenToNobodyElseWhateverTheGroupWasBefore() throws IOException {
        ChildJvm first = start(GROUP);
        ask(OWNER, "askDaemonToLoad ints " + source(OWNER, "ints", 7));
        assertModes("rwxr-x---", "r--r-----");
        first.kill();

        ChildJvm second = start();
        assertModes("rwx------", "r--------");
        second.kill();

        start(GROUP);
        assertThat(ask(ADA, "read ints/ints")).containsExactly("ok 7");
        assertModes("rwxr-x---", "r--r-----");
    }

    private void assertModes(String folders, String files) throws IOException {
        try (Stream<Path> entries = Files.walk(served.layout().version("ints", 1))) {
            for (Path entry : (Iterable<Path>) entries::iterator) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(entry)))
                        .as(entry.toString())
                        .isEqualTo(Files.isDirectory(entry) ? folders : files);
            }
        }
    }

    private ChildJvm start(String... group) {
        List<String> arguments = new ArrayList<>(List.of(served.root().toString(), CAPACITY));
        if (group.length > 0) {
            arguments.addAll(List.of(group[0], QUOTA));
        }
        ChildJvm child = OWNER.start(classPath, DaemonProgram.class, arguments.toArray(String[]::new));
        children.add(child);
        child.awaitLine(DaemonProgram.READY);
        return child;
    }

    private ChildJvm launch(OtherUser user, String... actions) {
        List<String> arguments = new ArrayList<>(List.of(served.root().toString()));
        arguments.addAll(List.of(actions));
        ChildJvm child = user.start(classPath, MemberProgram.class, arguments.toArray(String[]::new));
        children.add(child);
        return child;
    }

    private List<String> ask(OtherUser user, String... actions) {
        ChildJvm child = launch(user, actions);
        List<String> answers = new ArrayList<>();
        for (int i = 0; i < actions.length; i++) {
            answers.add(child.awaitLine());
        }
        child.awaitExit();
        return answers;
    }

    /** Writes what only one user can read. */
    private Path source(OtherUser user, String name, int value) throws IOException {
        Path file = ServedStore.writeInts(folder.resolve(user.uid() + "/" + name + ".npy"), value, value);
        Files.setPosixFilePermissions(user.own(file), PosixFilePermissions.fromString("r--------"));
        Files.setPosixFilePermissions(user.own(file.resolveSibling("")), PosixFilePermissions.fromString("rwx------"));
        return file;
    }

    private static void openToAll(Path folder) throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
