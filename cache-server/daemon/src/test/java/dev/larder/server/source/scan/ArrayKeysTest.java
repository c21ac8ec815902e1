package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.server.source.ArrayKeys;
import dev.larder.server.source.SourceOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArrayKeysTest {
    @TempDir
    private Path folder;

    @Test
    void onlyFilesOfTheKeysAreKept() {
        for (String stem : List.of("s1_rgb", "s1_depth", "s1_pose", "s2_rgb", "s2_depth", "rgb", "s1rgb", "s1_rgb_x")) {
            SourceFiles.npy(folder.resolve(stem + ".npy"), "<f4", 2);
        }
        SourceFiles.write(folder.resolve("bad_but_not_meant.npy"), new byte[2]);

        ScannedSource source = ScannedSource.scan("set", folder, new SourceOptions(List.of("rgb", "depth")));

        assertThat(source.arrays())
                .extracting(array -> array.name().array())
                .containsExactly("s1_depth", "s1_rgb", "s2_depth", "s2_rgb");
    }

    @ParameterizedTest
    @CsvSource({"s1_obj_feat,obj_feat", "s1_feat,feat", "s1_x_feat,feat", "obj_feat,feat", "s1_feats,"})
    void theLongestMatchingKeyWins(String name, String key) {
        assertThat(new ArrayKeys(List.of("feat", "obj_feat")).keyOf(name)).isEqualTo(key);
    }

    @Test
    void membersAreChosenByTheirNamesElseByTheirEndings() {
        ArrayKeys keys = new ArrayKeys(List.of("a", "b", "d"));
        List<String> named = new ArrayList<>();
        List<String> missing = new ArrayList<>();

        assertThat(keys.choose(List.of("a", "x_a", "x_b", "y_b", "xb", "c"), named::add, missing::add))
                .containsExactlyInAnyOrder("a", "x_b", "y_b");
        assertThat(named).containsExactly("a");
        assertThat(missing).containsExactly("d");
        assertThat(new ArrayKeys(List.of()).choose(List.of("a", "c"), named::add, missing::add))
                .containsExactlyInAnyOrder("a", "c");
    }

    @Test
    void withoutKeysEveryNameIsWanted() {
        ArrayKeys some = new ArrayKeys(List.of("a"));
        ArrayKeys all = new ArrayKeys(List.of());

        assertThat(List.of("a", "x_a", "xa", "b")).filteredOn(some::mayChoose).containsExactly("a", "x_a");
        assertThat(List.of("a", "x_a", "xa", "b")).filteredOn(some::isWanted).containsExactly("x_a");
        assertThat(List.of("a", "xa")).allMatch(all::mayChoose).allMatch(all::isWanted);
    }

    @Test
    void keysOfNoNameAreListedAndCanBeLeftOut() {
        ArrayKeys keys = new ArrayKeys(List.of("longer", "b", "a"));

        assertThat(keys.keysOfNone(List.of("x_b", "y"))).containsExactly("a", "longer");
        assertThat(keys.without(List.of("a")).keyOf("x_a")).isNull();
        assertThat(keys.without(List.of("a")).keyOf("x_b")).isEqualTo("b");
    }

    @Test
    void missingFilesAreListedUpToTen() {
        ArrayKeys keys = new ArrayKeys(List.of("a", "b"));
        List<String> names = new ArrayList<>(List.of("other", "s0_a", "s0_b"));
        assertThat(keys.incomplete(folder, names)).isNull();

        IntStream.rangeClosed(1, 10).forEach(i -> names.add("s" + i + "_a"));
        assertThat(keys.incomplete(folder, names))
                .hasMessageContaining("scenes=11 missingFiles=10 missing=[s1_b, s10_b, s2_b");

        names.add("s_b");
        assertThat(keys.incomplete(folder, names))
                .hasMessageContaining("missingFiles=11 firstMissing=")
                .hasMessageContaining(", s8_b]; add the missing files");
    }

    @Test
    void everySceneNeedsEveryKey() {
        for (int i = 10; i < 30; i++) {
            SourceFiles.npy(folder.resolve("sub/s" + i + "_rgb.npy"), "<f4", 2);
        }
        SourceFiles.npy(folder.resolve("sub/s12_depth.npy"), "<f4", 2);

        assertThatThrownBy(() -> ScannedSource.scan("set", folder, new SourceOptions(List.of("rgb", "depth"))))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining(
                        "scenes=20 missingFiles=19 firstMissing=[sub/s10_depth, sub/s11_depth, sub/s13_depth")
                .hasMessageNotContaining("s29");
    }

    @Test
    void keysThatMatchNothingAreRefused() {
        SourceFiles.npy(folder.resolve("s1_rgb.npy"), "<f4", 2);

        assertThatThrownBy(() -> ScannedSource.scan("set", folder, new SourceOptions(List.of("depth"))))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageEndingWith("reason=it has no columns [depth], but [s1_rgb]; "
                        + "name columns that it has, or load all without --columns");
        assertThatThrownBy(() -> ScannedSource.requireLikely("set", folder, options("s1_rg"), false))
                .hasMessageContaining("; did you mean s1_rgb? ");
    }

    @Test
    void aStemThatIsTheKeyIsWantedIfNoStemEndsInIt() {
        SourceFiles.npy(folder.resolve("features.npy"), "<f4", 2);
        SourceFiles.npy(folder.resolve("labels.npy"), "<i8", 2);
        SourceFiles.npy(folder.resolve("val/features.npy"), "<f4", 2);

        assertThat(names(folder, "features")).containsExactly("features", "val/features");
        assertThat(names(folder, "features", "labels")).containsExactly("features", "labels", "val/features");
        assertThat(names(folder.resolve("labels.npy"), "labels")).containsExactly("labels");
        assertThatThrownBy(() -> names(folder, "feature", "labels"))
                .hasMessageContaining("it has no columns [feature], but [features, labels]; did you mean features? ");
        SourceFiles.npy(folder.resolve("s1_features.npy"), "<f4", 2);
        assertThat(names(folder, "features")).containsExactly("s1_features");
    }

    @Test
    void aRawFileOfAnyNameIsRefusedIfItHasNotTheKey() {
        Path raw = SourceFiles.write(folder.resolve("x.what"), new byte[4]);
        SourceOptions typed = new SourceOptions(List.of("y"), LoadOptions.As.ARRAYS, "f4", "");

        assertThat(ScannedSource.scan("set", raw, typed.withKeys(List.of("x"))).arrays())
                .hasSize(1);
        assertThatThrownBy(() -> ScannedSource.scan("set", raw, typed)).hasMessageContaining(" keys=[y]; ");
    }

    @Test
    void rowsNeedNamesOfScenesBeforeTheKey() {
        SourceFiles.npy(folder.resolve("rgb.npy"), "<f4", 2);

        assertThatThrownBy(() -> ScannedSource.scan(
                        "set", folder, new SourceOptions(List.of("rgb"), LoadOptions.As.RAGGED, "", "")))
                .hasMessageContaining("no file is called SCENE_KEY with one of the keys [rgb]: there are [rgb]; ");
    }

    private static SourceOptions options(String... keys) {
        return new SourceOptions(List.of(keys));
    }

    private static List<String> names(Path path, String... keys) {
        return ScannedSource.scan("set", path, options(keys)).arrays().stream()
                .map(array -> array.name().array())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "a//b", ".."})
    void aKeyIsPartOfAName(String key) {
        assertThatThrownBy(() -> new SourceOptions(List.of(key)))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.USAGE));
    }
}
