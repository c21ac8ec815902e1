package dev.larder.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.internal.layout.StoreChoice.Choice;
import dev.larder.internal.layout.StoreChoice.Skipped;
import dev.larder.internal.layout.StoreLocation.Caller;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The table of cases is also read by the tests of the Python package. */
class StoreChoiceTest {
    private static final int MINE = 60;
    private static final int THEIRS = 61;
    private static final int ME = 4711;
    private static final List<String> NAMES = List.of("own", "disk", "service");
    private static final long SMALL_MEMORY = 0;

    /** With so much memory, every file system is small. */
    private static final long LARGE_MEMORY = Long.MAX_VALUE;

    private static final Path TABLE = Path.of("src/test/resources/layout/store-choice.tsv");

    @TempDir
    Path root;

    private final List<ServerSocketChannel> daemons = new ArrayList<>();

    @AfterEach
    void endDaemons() throws IOException {
        for (ServerSocketChannel daemon : daemons) {
            daemon.close();
        }
    }

    static Stream<List<String>> cases() throws IOException {
        return Files.readAllLines(TABLE).stream()
                .filter(line -> !line.startsWith("#"))
                .map(line -> List.of(line.split("\t", -1)));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theTableSaysWhichStoreIsChosenAndWhichAreSkipped(List<String> row) throws IOException {
        assumeTrue(Posix.system().userId() == 0, "only root can give a folder away");
        Caller caller = caller(row.get(6).equals("small") ? LARGE_MEMORY : SMALL_MEMORY);
        List<Path> stores = caller.defaultStores();
        for (int i = 0; i < NAMES.size(); i++) {
            make(stores.get(i), row.get(1 + i));
        }

        Choice choice = StoreChoice.among(caller);

        int chosen = NAMES.indexOf(row.get(4));
        assertThat(choice.store()).isEqualTo(chosen < 0 ? null : stores.get(chosen));
        assertThat(choice.skipped())
                .extracting(Skipped::folder)
                .isEqualTo(Stream.of(row.get(5).split(",", -1))
                        .filter(name -> !name.equals("-"))
                        .map(name -> stores.get(NAMES.indexOf(name)))
                        .toList());
    }

    @Test
    void whoIsInNoGroupOfAServiceLearnsWhichToJoin() throws IOException {
        assumeTrue(Posix.system().userId() == 0, "only root can give a folder away");
        Caller caller = caller(SMALL_MEMORY);
        make(caller.defaultStores().get(2), "system:theirs 2750 live");

        assertThat(StoreChoice.among(caller).skipped().get(0).reason())
                .contains("owner=999", "ask to join its group and log in again: group=61");
    }

    @Test
    void aUserWithoutAPlaceForAStoreIsRefusedWithTheSkippedFolders() throws IOException {
        assumeTrue(Posix.system().userId() == 0, "only root can give a folder away");
        Caller caller = caller(SMALL_MEMORY);
        make(caller.defaultStores().get(0), "me 777 live");
        make(caller.defaultStores().get(1), "stranger 755");

        assertThatThrownBy(() -> StoreLocation.resolve(null, caller))
                .hasMessageStartingWith("no default store can be used: user=ada skipped=" + caller.ownStores())
                .hasMessageContaining("name a store of your own");
    }

    @Test
    void theReasonNamesTheSizes() throws IOException {
        assertThat(StoreChoice.among(caller(LARGE_MEMORY)).reason())
                .matches(".*/shm is smaller than an eighth of the memory: bytes=\\d+ memoryBytes=\\d+");
    }

    private Caller caller(long memoryBytes) throws IOException {
        List<Path> places = List.of(root.resolve("shm"), root.resolve("disk"));
        for (Path place : places) {
            Files.createDirectory(place);
        }
        Map<String, String> environment = Map.of(StoreLocation.SERVICE_USER_VARIABLE, "daemon");
        return new Caller(ME, "ada", List.of(MINE), environment, places, () -> memoryBytes);
    }

    private void make(Path path, String what) throws IOException {
        List<String> words = List.of(what.split(" ", -1));
        switch (words.get(0)) {
            case "-" -> {}
            case "file" -> Files.createFile(path);
            case "link" -> Files.createSymbolicLink(path, Files.createDirectory(root.resolve("elsewhere")));
            default -> makeFolder(path, words);
        }
        if (!words.get(0).equals("-")) {
            int uid = uidOf(words.get(0).split(":", -1)[0]);
            Files.setAttribute(path, "unix:uid", uid, LinkOption.NOFOLLOW_LINKS);
        }
    }

    private static int uidOf(String owner) {
        return switch (owner) {
            case "stranger" -> 4712;
            case "system" -> 999;
            case "configured" -> 1;
            default -> ME;
        };
    }

    private void makeFolder(Path path, List<String> words) throws IOException {
        Files.createDirectory(path);
        boolean isMine = words.get(0).endsWith(":mine");
        Files.setAttribute(path, "unix:gid", isMine ? MINE : THEIRS);
        Files.setAttribute(path, "unix:mode", Integer.parseInt(words.get(1), 8));
        if (words.contains("live")) {
            ServerSocketChannel daemon = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            daemon.bind(UnixDomainSocketAddress.of(new StoreLayout(path).socket()));
            daemons.add(daemon);
        }
    }
}
