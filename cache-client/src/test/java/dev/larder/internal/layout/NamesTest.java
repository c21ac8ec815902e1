package dev.larder.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NamesTest {
    @ParameterizedTest
    @ValueSource(strings = {"mnist", "fashion-mnist", "a", "v1.0+b_2", "-x", "größe", "日本", "٣", "x.", "𝒜"})
    void lettersDigitsAndAFewSignsNameADataset(String name) {
        assertThatCode(() -> Names.requireDataset(name)).doesNotThrowAnyException();
        assertThatCode(() -> Names.requireArray(name)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ".",
                "..",
                ".hidden",
                "a/b",
                "a=b",
                "a b",
                "a\nb",
                "a\0b",
                "a\\b",
                "a:b",
                "a*",
                "~",
                "a@b",
                "\ud800",
                "a\u202eb",
                "%2e%2e",
                "$(x)"
            })
    void anythingElseDoesNot(String name) {
        assertThatThrownBy(() -> Names.requireDataset(name))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageStartingWith("bad dataset name: name=");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "a/b/c", "lr=0.1/run", ".hidden", "a/.b", "..."})
    void arraysMayHaveLevelsAndEqualsSigns(String name) {
        assertThatCode(() -> Names.requireArray(name)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "/a", "a/", "a//b", "./a", "a/..", "a/../b", "..", "a b/c"})
    void noLevelOfAnArrayIsEmptyOrLeadsUp(String name) {
        assertThatThrownBy(() -> Names.requireArray(name)).hasMessageStartingWith("bad array name: name=");
    }

    @Test
    void lengthIsCountedInBytes() {
        assertThat(Names.datasetObjection("é".repeat(120))).isNull();
        assertThat(Names.datasetObjection("é".repeat(121))).contains("240 bytes");
        assertThat(Names.arrayObjection("a/".repeat(511) + "ab")).isNull();
        assertThat(Names.arrayObjection("a/".repeat(512) + "a")).contains("1024 bytes");
    }

    @ParameterizedTest
    @CsvSource({"mnist/train,mnist,train", "a/b/c,a,b/c", "a/b=c,a,b=c"})
    void aFullNameSplitsAtItsFirstSlash(String name, String dataset, String array) {
        ArrayName split = ArrayName.parse(name);

        assertThat(split).isEqualTo(new ArrayName(dataset, array)).hasToString(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mnist", "/train", "mnist/", ".a/b", "a=b/c"})
    void aFullNameNeedsTwoGoodParts(String name) {
        assertThatThrownBy(() -> ArrayName.parse(name)).isInstanceOf(LarderException.class);
    }

    @ParameterizedTest
    @CsvSource({"mnist,mnist,", "mnist/,mnist,", "mnist/a,mnist,a", "mnist/a/b,mnist,a/b", "/a,'',a"})
    void aNameIsOfADatasetOrOfOneOfItsArrays(String name, String dataset, String array) {
        assertThat(Names.datasetIn(name)).isEqualTo(dataset);
        assertThat(Names.arrayIn(name)).isEqualTo(array);
    }

    @Test
    void aLongNameIsShownInPart() {
        assertThat(Names.printable("x".repeat(80))).isEqualTo("x".repeat(80));
        assertThat(Names.printable("x".repeat(81))).isEqualTo("x".repeat(80) + "...");
    }

    @Test
    void hostileNamesAreShownHarmlessly() {
        assertThatThrownBy(() -> Names.requireDataset("\u001b[31m" + "x".repeat(10_000)))
                .hasMessageContaining("name=?[31m")
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(250));
    }
}
