package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadOptions.As;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Walks over folders: what they leave out, and where they do not go. */
@Timeout(60)
class WalkTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(As.class)
    void theWholeFileSystemIsRefusedAtOnce(As as) {
        assertThatThrownBy(() -> scan(as, Path.of("/tmp/..")))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("source is the whole file system: path=/tmp/..; name the folder");
    }

    @ParameterizedTest
    @EnumSource(As.class)
    void aLinkToTheWholeFileSystemIsRefusedToo(As as) throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("all"), Path.of("/"));

        assertThatThrownBy(() -> scan(as, link)).hasMessageContaining("source is the whole file system");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/proc", "/sys", "/proc/self/fd"})
    void fileSystemsOfTheKernelAreRefused(String path) {
        assertThatThrownBy(() -> scan(As.BYTES, Path.of(path))).hasMessageContaining("which has no data");
        assertThatThrownBy(() -> scan(As.ARRAYS, Path.of(path))).hasMessageContaining("which has no data");
    }

    @ParameterizedTest
    @EnumSource(
            value = As.class,
            names = {"ARRAYS", "BYTES"})
    void foldersThatLinksMultiplyAreRefused(As as) throws IOException {
        Path below = Files.createDirectory(folder.resolve("level-20"));
        for (int level = 19; level >= 0; level--) { // a million paths to the same file
            Path above = Files.createDirectory(folder.resolve("level-" + level));
            Files.createSymbolicLink(above.resolve("a"), below);
            Files.createSymbolicLink(above.resolve("b"), below);
            below = above;
        }
        SourceFiles.npy(folder.resolve("level-20/x.npy"), "<f4", 1);
        Path top = below;

        assertThatThrownBy(() -> scan(as, top)).hasMessageContaining("links lead to this folder more than 64 times");
    }

    @ParameterizedTest
    @EnumSource(
            value = As.class,
            names = {"ARRAYS", "BYTES"})
    void aFolderWhoseNameIsNotTextIsRefused(As as) throws IOException, InterruptedException {
        SourceFiles.npy(folder.resolve("a.npy"), "<f4", 1);
        String command =
                "d=$(printf 'caf\\351') && mkdir \"$d\" && cp a.npy \"$d\"/b.npy"; // which no path of Java can say
        Process shell = new ProcessBuilder("sh", "-c", command)
                .directory(folder.toFile())
                .start();
        assertThat(shell.waitFor()).isZero();

        assertThatThrownBy(() -> scan(as, folder)).hasMessageContaining("its name is not text in this locale");
    }

    @ParameterizedTest
    @EnumSource(
            value = As.class,
            names = {"ARRAYS", "BYTES"})
    void whatIsExcludedIsNotLookedAt(As as) throws IOException {
        Files.createDirectories(folder.resolve("raw/deep"));
        SourceFiles.npy(folder.resolve("a.npy"), "<f4", 1);
        SourceFiles.npy(folder.resolve("raw/deep/b.npy"), "<f4", 1);
        Files.createSymbolicLink(folder.resolve("nowhere.npy"), Path.of("gone"));

        ScannedSource source = ScannedSource.scan("d", folder, options(as, "raw", "now*.npy"));

        assertThat(source.arrays().get(0).files())
                .extracting(file -> file.file().getFileName().toString())
                .containsExactly("a.npy");
        source.arrays().forEach(SourceArray::release);
    }

    @Test
    void aNameThatIsNoTextIsNotToldToBeLoadedAsBytes() throws Exception {
        Process made = new ProcessBuilder(
                        "bash",
                        "-c",
                        "cp \"$1\" \"$2\"/$'\\xe9'.npy",
                        "-",
                        SourceFiles.npy(folder.resolve("good.npy"), "<f4", 1).toString(),
                        folder.toString())
                .start();
        assertThat(made.waitFor()).isZero();

        assertThatThrownBy(() -> scan(As.ARRAYS, folder))
                .hasMessageContaining("rename it, or leave it out with --exclude")
                .message()
                .doesNotContain("--as bytes");
    }

    @Test
    void aFolderOfTextsIsToldOfStrings() throws IOException {
        Path text = Files.writeString(folder.resolve("t.jsonl"), "{}");

        assertThatThrownBy(() -> scan(As.ARRAYS, text)).hasMessageEndingWith("; load it --as strings, or --as bytes");
        assertThatThrownBy(() -> scan(As.ARRAYS, folder))
                .hasMessageEndingWith("; it has 1 text file: add --as strings");
        Files.move(text, folder.resolve("t.what"));
        assertThatThrownBy(() -> scan(As.ARRAYS, folder))
                .hasMessageContaining("HDF5, .tar.xz, .tar.zst, Apache Parquet, TFRecord");
    }

    @Test
    void filesOfReadersWithOneNameAreRefusedByBothNames() throws IOException {
        Files.writeString(folder.resolve("a.h5"), "");
        Files.writeString(folder.resolve("a.hdf5"), "");

        assertThatThrownBy(() -> scan(As.ARRAYS, folder))
                .hasMessageContaining("file=" + folder.resolve("a.hdf5"))
                .hasMessageContaining("its arrays would be called a/…, as those of " + folder.resolve("a.h5"))
                .hasMessageEndingWith("rename one of them, or leave one out with --exclude");
    }

    @Test
    void aSavedDatasetWithoutRowsIsSaidToBeOne() throws IOException {
        Files.writeString(folder.resolve("state.json"), "{\"_data_files\": []}");

        assertThatThrownBy(() -> scan(As.ARRAYS, folder))
                .hasMessageContaining("it lists no data files: the dataset has no rows");
    }

    @Test
    void aNameThatNoArrayMayHaveIsStoredWithUnderscores() throws IOException {
        SourceFiles.npy(folder.resolve("my set (1)/a b.npy"), "<f4", 1);
        SourceFiles.write(folder.resolve("my table.csv"), "x y\n1\n".getBytes(StandardCharsets.UTF_8));

        assertThat(namesOf(scan(As.ARRAYS, folder))).containsExactly("my_set_1_/a_b", "my_table/x_y");
        assertThat(namesOf(scan(As.STRINGS, folder))).contains("my_table/x_y/bytes");
        assertThat(namesOf(scan(As.ARRAYS, folder.resolve("my set (1)/a b.npy"))))
                .containsExactly("a_b");
    }

    private static List<String> namesOf(ScannedSource source) {
        List<String> names =
                source.arrays().stream().map(array -> array.name().array()).toList();
        source.arrays().forEach(SourceArray::release);
        return names;
    }

    @ParameterizedTest
    @EnumSource(
            value = As.class,
            names = {"ARRAYS", "STRINGS"})
    void namesThatAreStoredAlikeAreRefusedWithWhatHelps(As as) throws IOException {
        for (String name : List.of("a b.csv", "a_b.csv")) {
            SourceFiles.write(folder.resolve(name), "x\n1\n".getBytes(StandardCharsets.UTF_8));
        }

        assertThatThrownBy(() -> scan(as, folder))
                .hasMessageContaining("array a_b/x")
                .hasMessageContaining("clashes: " + folder.resolve("a b.csv"))
                .hasMessageContaining("has the same name; rename one of the files, or leave one out with --exclude");
        namesOf(ScannedSource.scan("d", folder, options(as, "* *")));
    }

    @Test
    void namesThatAreTooLongAreAllListedWithWhatHelps() throws IOException {
        for (String name : List.of("a".repeat(241), "b".repeat(241), "good")) {
            SourceFiles.npy(folder.resolve(name + ".npy"), "<f4", 1);
        }

        assertThatThrownBy(() -> scan(As.ARRAYS, folder))
                .hasMessageContaining("badFiles=2")
                .hasMessageContaining(
                        "a part of it is longer than 240 bytes; rename the file, leave it out with --exclude,"
                                + " or load the folder --as bytes");
        assertThat(scan(As.BYTES, folder).arrays().get(0).name().dataset()).isEqualTo("d");
    }

    @Test
    void aPatternThatIsNoneIsRefused() {
        assertThatThrownBy(() -> options(As.ARRAYS, "[a")).hasMessageContaining("bad pattern: exclude=[a");
    }

    @Test
    void filesOfManyFoldersAreInTheOrderOfTheirWholePaths() throws IOException {
        for (String name : List.of("a/x", "a-b", "a.c/y", "a0", "B", "a/é")) {
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, name);
        }
        IntStream.range(0, 300).forEach(i -> write("many/" + i));

        ScannedSource source = scan(As.BYTES, folder);

        List<String> names = source.arrays().stream()
                .filter(array -> array.files().size() > 1)
                .flatMap(array -> array.files().stream())
                .map(file -> folder.toAbsolutePath().relativize(file.file()).toString())
                .toList();
        assertThat(names).hasSize(306).isSorted();
        source.arrays().forEach(SourceArray::release);
    }

    private void write(String name) {
        try {
            Files.createDirectories(folder.resolve(name).getParent());
            Files.writeString(folder.resolve(name), name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static SourceOptions options(As as, String... exclude) {
        return SourceOptions.of(LoadOptions.none().withAs(as).withExclude(List.of(exclude)));
    }

    private static ScannedSource scan(As as, Path path) {
        return ScannedSource.scan("d", path, options(as));
    }
}
