package dev.larder.reader;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WantedColumnsTest {
    @ParameterizedTest
    @CsvSource({
        "words.items, words",
        "points.items/x, points/x",
        "deep.items.items/path, deep/path",
        "points.offsets, points",
        "a/list.items/b.items, a/list/b",
        "plain.itemsets, plain.itemsets",
        "plain/x, plain/x",
    })
    void itemsAndTheirOffsetsBelongToTheirList(String column, String list) {
        assertThat(WantedColumns.nameOfList(column)).isEqualTo(list);
    }
}
