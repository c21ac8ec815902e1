package dev.larder.command.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lists sources as a leader does, and compares as other nodes do. */
class RunListingTest {
    @TempDir
    Path folder;

    private String list(String name) {
        return RunListing.of(List.of(source(name, false)));
    }

    private DataSource source(String name, boolean isShard) {
        return new DataSource(
                new LoadRequest.Source("train", folder.resolve(name).toString()), LoadOptions.As.ARRAYS, isShard);
    }

    private void write(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    @Test
    void copiesOfOneFolderAreTheSameWhereverTheyLie() throws IOException {
        for (String copy : List.of("one", "two")) {
            write(copy + "/b.npy", "12345");
            write(copy + "/deep/a.npy", "123");
        }

        assertThat(list("one")).isEqualTo("train\tb.npy\t5\ntrain\tdeep/a.npy\t3");
        RunListing.requireSame(list("one"), list("two"));
    }

    @Test
    void theFirstFileThatDiffersIsNamedWithBothLengths() throws IOException {
        write("one/a.npy", "123");
        write("two/a.npy", "1234");
        write("three/a.npy", "123");
        write("three/b.npy", "1");

        assertThatThrownBy(() -> RunListing.requireSame(list("one"), list("two")))
                .hasMessageContaining("differs from the leader's list: dataset=train file=a.npy bytes=4 leader's=3");
        assertThatThrownBy(() -> RunListing.requireSame(list("one"), list("three")))
                .hasMessageContaining("file=b.npy bytes=1 leader's=absent");
        assertThatThrownBy(() -> RunListing.requireSame(list("three"), list("one")))
                .hasMessageContaining("file=b.npy bytes=absent leader's=1");
        assertThatThrownBy(() -> list("four")).hasMessageContaining("cannot list a source: dataset=train");
    }

    @Test
    void aLongListIsToldByFoldersAndALongerOneBySources() throws IOException {
        for (int file = 0; file < 20; file++) {
            write("one/deep/" + file + ".npy", "123");
            write("two/deep/" + file + ".npy", file == 13 ? "1234" : "123");
        }

        assertThat(list("one", 100)).matches("train\tdeep/\\*\tfiles:20,sha256:[0-9a-f]{16}");
        assertThat(list("one", 10)).matches("train\t\\*\tfiles:20,sha256:[0-9a-f]{16}");
        assertThatThrownBy(() -> RunListing.requireSame(list("one", 100), list("two", 100)))
                .hasMessageContaining(
                        "differs from the leader's list: dataset=train file=deep/* bytes=files:20,sha256:");
    }

    private String list(String name, int mostCharacters) {
        return RunListing.of(List.of(source(name, false)), mostCharacters);
    }

    @Test
    void ofWhatIsReadInPartAChangeShowsThatLeavesTheLength() throws IOException {
        write("one/a.npy", "12345");
        write("two/a.npy", "12346");

        String listed = RunListing.of(List.of(source("one", true)));
        String changed = RunListing.of(List.of(source("two", true)));

        assertThat(list("one")).isEqualTo(list("two"));
        assertThatThrownBy(() -> RunListing.requireSame(listed, changed))
                .hasMessageContaining(
                        "the source differs from the leader's list: dataset=train file=a.npy bytes=5,sample:");
    }
}
