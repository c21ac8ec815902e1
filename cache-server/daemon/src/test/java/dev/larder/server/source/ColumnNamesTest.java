package dev.larder.server.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.reader.Selection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What names of {@code --columns} may be, and which columns they mean. */
class ColumnNamesTest {
    @ParameterizedTest
    @CsvSource({
        "label, label, true",
        "label, train/label, true",
        "train, train/label, true",
        "train/label, train/label, true",
        "b/c, a/b/c/d, true",
        "label, labels, false",
        "label, train/labels, false",
        "abel, label, false",
        "train/label, test/label, false",
        "a/c, a/b/c, false",
        "one_value, one value, true",
        "c=New_York/x, c=New York/x, true",
        "größe, größe, true",
    })
    void aNameMeansWhatIsCalledSoOrHasItsLevels(String name, String column, boolean isMeant) {
        assertThat(Selection.isNameOf(name, column)).isEqualTo(isMeant);
        assertThat(new Selection(List.of("else", name)).wants(column)).isEqualTo(isMeant);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/a", "a/", "a//b", "../a", "a/./b", "a b", "a/b c"})
    void eachLevelIsCheckedAsNamesAre(String key) {
        assertThatThrownBy(() -> new SourceOptions(List.of(key)))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.USAGE))
                .hasMessageContaining("bad key");
    }

    @Test
    void aNameWithoutLevelsHasToBeInEachTableAndOthersInOne() {
        Selection search = new Selection(List.of("label", "train/text", "val"), List.of("train/", "val/"));
        Selection.Table train = search.in("train/");
        train.note("text");
        Selection.Table val = search.in("val/");
        val.note("text");

        assertThat(search.missing()).containsExactly("label");
        assertThat(train.lacking()).isEmpty();
        val.note("label");
        assertThat(search.missing()).isEmpty();
        assertThat(train.lacking()).containsExactly("label");
        assertThat(train.columns()).containsExactly("text");
    }

    @Test
    void aNameThatNoTableHasIsMissing() {
        Selection search = new Selection(List.of("a/b"));
        Selection.Table table = search.in("");

        table.note("a");

        assertThat(search.missing()).containsExactly("a/b");
        assertThat(search.present()).containsExactly("a");
        assertThat(table.lacking()).isEmpty();
    }
}
