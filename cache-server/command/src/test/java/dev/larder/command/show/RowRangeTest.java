package dev.larder.command.show;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RowRangeTest {
    @ParameterizedTest
    @CsvSource({
        "0:5, 10, 0, 5",
        "0:5, 3, 0, 3",
        ":, 10, 0, 10",
        ":4, 10, 0, 4",
        "7:, 10, 7, 10",
        "-3:, 10, 7, 10",
        ":-3, 10, 0, 7",
        "-20:2, 10, 0, 2",
        "5:2, 10, 5, 5",
        "4, 10, 4, 5",
        "-1, 10, 9, 10",
        "-20:, 10, 0, 10",
        "0:5, 0, 0, 0"
    })
    void rangesMeanWhatTheyMeanInPython(String text, long rows, long first, long end) {
        RowRange range = new RowRange(text);

        assertThat(range.first(rows)).isEqualTo(first);
        assertThat(range.end(rows)).isEqualTo(end);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10", "10:", "20:30", "-11"})
    void rowsThatAreNotThereAreRefused(String text) {
        RowRange range = new RowRange(text);

        assertThatThrownBy(() -> range.first(10))
                .isInstanceOf(LarderException.class)
                .hasMessageStartingWith("there are no such rows: rows=" + text + " count=10; ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a", "1:2:3", "1,2", "--1", "1 :2"})
    void anythingElseIsRefused(String text) {
        assertThatThrownBy(() -> new RowRange(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
