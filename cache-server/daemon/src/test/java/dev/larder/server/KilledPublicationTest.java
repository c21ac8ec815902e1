package dev.larder.server;

import static dev.larder.server.StoreKind.EXT4;
import static dev.larder.server.StoreKind.OVERLAY;
import static dev.larder.server.StoreKind.TMPFS_ALWAYS;
import static dev.larder.server.StoreKind.USUAL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.LarderException;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.testing.ChildJvm;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** A daemon that is killed while it makes several datasets visible. */
@Tag("slow")
class KilledPublicationTest {
    private static final int KILLED = 137;
    private static final List<String> NAMES = List.of("a", "b", "c");

    @TempDir
    Path sources;

    @StoreMatrix(
            on = {USUAL, TMPFS_ALWAYS, EXT4, OVERLAY},
            number = {1, 2, 3, 4, 5, 6, 7})
    void allOfALoadIsThereOrNothingAtWhateverRenameItDies(ServedStore served, int rename) {
        ChildJvm daemon = served.startProcess();
        Strace.killAt(daemon.pid(), "/^rename", rename, () -> loadAll(served));
        assertThat(daemon.awaitExit()).as("killed").isEqualTo(KILLED);

        served.start();

        assertThat(StoreInsides.problems(served)).isEmpty();
        Stream<String> names = served.control().list("", true).stream().map(ArrayRow::name);
        assertThat(names).containsExactlyElementsOf(rename == 1 ? List.of() : List.of("a/a", "b/b", "c/c"));
        loadAll(served);
        assertThat(served.control().list("", true)).hasSize(NAMES.size());
    }

    private void loadAll(ServedStore served) {
        List<LoadRequest.Source> all = NAMES.stream()
                .map(name -> new LoadRequest.Source(
                        name,
                        ServedStore.writeInts(sources.resolve(name + ".npy"), 1).toString()))
                .toList();
        try {
            served.control().load(new LoadRequest(all, List.of(), 0), progress -> {});
        } catch (LarderException killed) {
            assertThat(killed).hasMessageContaining("daemon");
        }
    }
}
