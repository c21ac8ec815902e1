package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.LarderException;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.testing.ChildJvm;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A daemon that is killed while it makes several datasets visible. */
@Tag("slow")
class KilledPublicationTest {
    private static final int KILLED = 137;
    private static final List<String> NAMES = List.of("a", "b", "c");

    @TempDir
    Path sources;

    private ServedStore served;

    @BeforeEach
    void create() {
        served = ServedStore.create();
    }

    @AfterEach
    void close() {
        served.close();
    }

    @Test
    void allOfALoadIsThereWhereItDiesAfterTheCommit() {
        requireAllOrNothing(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 4, 5, 6, 7})
    void allOfALoadIsThereOrNothingWhereItDiesAtAnyOtherRename(int rename) {
        requireAllOrNothing(rename);
    }

    private void requireAllOrNothing(int rename) {
        ChildJvm daemon = served.startProcess();
        Strace.killAt(daemon.pid(), "/^rename", rename, this::loadAll);
        assertThat(daemon.awaitExit()).as("killed").isEqualTo(KILLED);

        served.start();

        Stream<String> names = served.control().list("", true).stream().map(ArrayRow::name);
        assertThat(names).containsExactlyElementsOf(rename == 1 ? List.of() : List.of("a/a", "b/b", "c/c"));
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
        loadAll();
        assertThat(served.control().list("", true)).hasSize(NAMES.size());
    }

    private void loadAll() {
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
