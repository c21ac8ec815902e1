package dev.larder.command.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.ArrayRow.State;
import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
    private static final ArrayRow ROW = new ArrayRow(
            "d/x",
            "<f4",
            List.of(10L),
            'F',
            40,
            1,
            "0123456789abcdef",
            State.REGISTERED,
            false,
            0,
            "",
            0,
            "",
            "/x.npy",
            ColumnPart.NONE);

    @Test
    void columnsAreAsWideAsTheirWidestCellAndNothingTrails() {
        Table table = Table.of(List.of("NAME", ">SIZE", "NOTE"))
                .row(List.of("a", "1 B", ""))
                .row(List.of("longer", "10.0 KiB", "x"));

        assertThat(table.lines()).containsExactly("NAME        SIZE  NOTE", "a            1 B", "longer  10.0 KiB  x");
    }

    @Test
    void charactersBeyondTheBasicPlaneCountOnce() {
        Table table = Table.of(List.of("N", "X")).row(List.of("𝛼", "1")).row(List.of("ab", "2"));

        assertThat(table.lines()).containsExactly("N   X", "𝛼   1", "ab  2");
    }

    @Test
    void aRowOfAnotherLengthIsAMistake() {
        Table table = Table.of(List.of("A", "B"));

        assertThatThrownBy(() -> table.row(List.of("1"))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aListingShowsNameTypeAndShapeAndOnRequestAll() {
        assertThat(ArrayText.table(ListedRow.of(List.of(ROW)), false))
                .containsExactly("NAME  DTYPE  SHAPE", "d/x   <f4    (10,)");
        assertThat(ArrayText.table(ListedRow.of(List.of(ROW)), true).get(1))
                .isEqualTo("d/x   <f4    (10,)  F      40 B        1  registered  no           0       0  -"
                        + "       0123456789ab  -     /x.npy");
    }

    @Test
    void shapesAreWrittenAsNumpyDoesWithoutBlanks() {
        assertThat(ArrayText.shape(List.of())).isEqualTo("()");
        assertThat(ArrayText.shape(List.of(7L))).isEqualTo("(7,)");
        assertThat(ArrayText.shape(List.of(60000L, 28L, 28L))).isEqualTo("(60000,28,28)");
    }

    @Test
    void aDatasetWhoseArraysTheDaemonHasCountedIsOneLine() {
        List<ListedRow> rows = ListedRow.brief(ListedRow.of(List.of(counted("many/", "<f4"), counted("mixed/", ""))));

        assertThat(rows).allMatch(ListedRow::isWholeDataset);
        assertThat(ArrayText.table(rows, false))
                .containsExactly(
                        "NAME    DTYPE  SHAPE", "many/   <f4    100000 arrays", "mixed/  -      100000 arrays");
    }

    private static ArrayRow counted(String name, String dtype) {
        return new ArrayRow(
                name,
                dtype,
                List.of(100_000L),
                'C',
                400,
                1,
                "ab",
                ArrayRow.State.RESIDENT,
                false,
                0,
                "",
                0,
                "",
                "/data",
                ColumnPart.NONE);
    }

    @Test
    void factsAreOneLineEach() {
        assertThat(ArrayText.facts(ListedRow.ofArray(ROW)))
                .contains("name     d/x", "shape    (10,)", "bytes    40", "state    registered", "path     -");
    }

    @Test
    void aProgramThatIsAnArgumentIsShortenedInATableOfClients() {
        String program = "python3 -c " + "x = 1 ".repeat(40);
        ClientRow row = new ClientRow(7, 1, "u", program, program, List.of("d"), 0, List.of(), null);

        assertThat(ClientRow.table(List.of(row)).get(1)).endsWith("d         " + program.substring(0, 99) + "…");
        assertThat(row.command()).isEqualTo(program);
    }

    @Test
    void columnsGoInTheirOrderUntilTheTableFitsAndTheLastOneMayBeCut() {
        Table table = Table.of(List.of(">PID", "USER", "COMMAND")).row(List.of("7", "someone", "a very long command"));

        assertThat(table.lines(24, 10, List.of("USER", "COMMAND")).get(0)).isEqualTo("PID  USER     COMMAND");
        assertThat(table.lines(20, 10, List.of("USER", "COMMAND")))
                .containsExactly("PID  COMMAND", "  7  a very long command");
        assertThat(table.lines(10, 10, List.of("USER", "COMMAND"))).containsExactly("PID", "  7");
        assertThat(table.lines(1, 1, List.of("NONE"))).isEqualTo(table.lines());
    }
}
