package dev.larder.reader;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SelectionTest {
    @ParameterizedTest
    @CsvSource({
        "words.items, words, true",
        "points.items/x, points/x, true",
        "deep.items.items/path, deep/path, true",
        "points.offsets, points, true",
        "a/list.items/b.items, a/list/b, true",
        "plain.itemsets, plain, false",
        "plain/x, plain.items, false",
    })
    void itemsAndTheirOffsetsHaveTheNameOfTheirList(String column, String name, boolean isMeant) {
        assertThat(Selection.isNameOf(name, column)).isEqualTo(isMeant);
    }
}
