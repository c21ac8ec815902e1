package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.server.source.ArrayKeys;
import dev.larder.server.source.SourceOptions;
import java.nio.file.Path;
import java.util.List;
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
                .hasMessageContaining("nothing to load")
                .hasMessageContaining("keys=[depth]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "a//b", ".."})
    void aKeyIsPartOfAName(String key) {
        assertThatThrownBy(() -> new SourceOptions(List.of(key)))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.USAGE));
    }
}
