package dev.larder.command.options;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.command.output.ArrayText;
import dev.larder.command.output.ListedRow;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.ArrayRow;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NamePatternTest {
    private static ArrayRow array(String name, ColumnPart part, long... shape) {
        return new ArrayRow(
                name,
                "<i8",
                IntStream.range(0, shape.length).mapToObj(i -> shape[i]).toList(),
                'C',
                8,
                1,
                "",
                ArrayRow.State.RESIDENT,
                false,
                0,
                "",
                0,
                "",
                "",
                part);
    }

    private static ArrayRow array(String name) {
        return array(name, ColumnPart.NONE, 1);
    }

    @ParameterizedTest
    @CsvSource({
        "mnist, mnist/a, true",
        "mnist/, mnist/a, true",
        "mnist/a, mnist/a, true",
        "mnist/a, mnist/a/b, true",
        "mnist/a, mnist/ab, false",
        "mn, mnist/a, false",
        "mn*, mnist/a, true",
        "'*a', mnist/a, true",
        "'*/a', mnist/x/a, true",
        "?nist, mnist/a, true",
        "mnist/[!b-z], mnist/a, true",
        "mnist/[b-z], mnist/a, false",
        "mnist/a.c, mnist/abc, false",
        "'mnist/[a', mnist/a, false"
    })
    void aPatternNamesWhatLiesBelowItOrMatches(String pattern, String array, boolean matches) {
        assertThat(new NamePattern(pattern).test(ListedRow.ofArray(array(array))))
                .isEqualTo(matches);
    }

    @Test
    void theArraysOfAColumnAreOneLineWithTheNamesOfItsFiles() {
        List<ListedRow> rows = ListedRow.of(List.of(
                array("d/f/names/bytes", ColumnPart.STRINGS_BYTES, 99),
                array("d/f/names/offsets", ColumnPart.STRINGS_OFFSETS, 8),
                array("d/f/offsets", ColumnPart.BYTES_OFFSETS, 8),
                array("d/f/values", ColumnPart.BYTES_VALUES, 99),
                array("d/key/entries", ColumnPart.INDEX_ENTRIES, 1, 2),
                array("d/key/slots", ColumnPart.INDEX_SLOTS, 2),
                array("d/x")));

        assertThat(ArrayText.table(rows, false))
                .containsExactly(
                        "NAME   DTYPE  SHAPE", "d/f    bytes  7 rows", "d/key  index  1 key", "d/x    <i8    (1,)");
        assertThat(rows.get(0).arrays()).hasSize(4);
    }

    @Test
    void aColumnThatIsNotCompleteIsListedByItsArrays() {
        assertThat(ListedRow.of(List.of(array("d/s/offsets", ColumnPart.STRINGS_OFFSETS, 8))))
                .extracting(ListedRow::name, ListedRow::type)
                .containsExactly(org.assertj.core.groups.Tuple.tuple("d/s/offsets", "<i8"));
    }

    @Test
    void aDatasetOfManyArraysIsOneLine() {
        List<ArrayRow> arrays =
                IntStream.range(0, 21).mapToObj(i -> array("many/" + i)).toList();

        assertThat(ArrayText.table(ListedRow.brief(ListedRow.of(arrays)), false))
                .containsExactly("NAME   DTYPE  SHAPE", "many/  <i8    21 arrays");
        assertThat(ListedRow.brief(ListedRow.of(arrays.subList(0, 20)))).hasSize(20);
    }
}
