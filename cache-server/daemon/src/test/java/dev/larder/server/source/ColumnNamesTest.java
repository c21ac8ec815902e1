package dev.larder.server.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.reader.WantedColumns;
import java.nio.file.Path;
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
        assertThat(WantedColumns.isNameOf(name, column)).isEqualTo(isMeant);
        assertThat(new WantedColumns(List.of("else", name)).wants(column)).isEqualTo(isMeant);
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
        ColumnSearch search = new ColumnSearch(List.of("label", "train/text", "val"), List.of("train/", "val/"));
        search.in("train/", Path.of("train.arrow")).note("text");
        ColumnSearch.Table val = search.in("val/", Path.of("val.arrow"));
        val.note("text");

        assertThat(search.missing()).containsExactly("label");
        search.requireEven();
        val.note("label");
        assertThat(search.missing()).isEmpty();
        assertThatThrownBy(search::requireEven)
                .hasMessageContaining("file=train.arrow reason=it has no columns [label], but [text]");
    }

    @Test
    void aNameThatNoTableHasIsMissing() {
        ColumnSearch search = new ColumnSearch(List.of("a/b"), List.of(""));

        search.in("", Path.of("x.arrow")).note("a");

        assertThat(search.missing()).containsExactly("a/b");
        assertThat(search.present()).containsExactly("a");
        search.requireEven();
    }
}
