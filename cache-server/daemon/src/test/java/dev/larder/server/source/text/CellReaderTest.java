package dev.larder.server.source.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import dev.larder.error.LarderException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;

/** Fields are those that another parser of RFC 4180 finds. */
class CellReaderTest {
    private static final Path FILE = Path.of("t.csv");
    private static final String[] PARTS = {
        ",", ",", "\n", "\r\n", "\r", "\"", "\"\"", "a", "1.5", "ü", "€", "𝄞", " ", "\t", ",\"x\",", "\n\"a\"\"b\n\"\n"
    };

    @Test
    void randomTextHasTheRowsThatAnotherParserFinds() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 20_000; round++) {
            StringBuilder text = new StringBuilder();
            int parts = random.nextInt(12);
            for (int i = 0; i < parts; i++) {
                text.append(PARTS[random.nextInt(PARTS.length)]);
            }
            assertSameRows(text.toString(), "seed=" + seed + " round=" + round);
        }
    }

    @Test
    void rowsThatCrossTheEndOfABufferAreWhole() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            StringBuilder text = new StringBuilder("a".repeat(65_500 + random.nextInt(40)));
            for (int i = 0; i < 30; i++) {
                text.append(PARTS[random.nextInt(PARTS.length)]);
            }
            assertSameRows(text.toString(), "seed=" + seed + " round=" + round);
        }
    }

    @Test
    void aCharacterThatCrossesTheEndOfABufferFollowsQuotesWithinAField() throws IOException {
        for (String character : List.of("ü", "€", "𝄞")) {
            for (int before = 65_520; before < 65_540; before++) {
                String value = "a".repeat(before) + character;

                assertThat(rows("\"\"\"" + value + "\",b\n", true)).containsExactly("1:[\"" + value + ", b]");
            }
        }
    }

    @Test
    void aFieldAsLongAsTheLongestIsReadAndALongerOneIsRefused() throws IOException {
        for (String character : List.of("a", "ü", "𝄞")) {
            int bytes = character.getBytes(StandardCharsets.UTF_8).length;
            String longest = character.repeat((CellReader.MAX_BYTES - 4) / bytes);

            assertThat(rows(longest, true)).containsExactly("1:[" + longest + "]");
            assertThatThrownBy(() -> rows(longest + character.repeat(4), true)).hasMessageContaining("is longer than");
        }
    }

    /** The other parser does not count a line feed that comes behind a carriage return anywhere in a quoted field. */
    private static void assertSameRows(String text, String where) throws IOException {
        boolean hasLines = !text.contains("\r");
        List<String> expected = new ArrayList<>();
        try (CsvReader<CsvRecord> records = CsvReader.builder()
                .allowUnclosedQuote(false)
                .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
                .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                .ofCsvRecord(text)) {
            records.forEach(row -> expected.add((hasLines ? row.getStartingLineNumber() : "") + ":" + row.getFields()));
        } catch (CsvParseException e) {
            assertThatThrownBy(() -> rows(text, hasLines))
                    .as(where + " " + text)
                    .isInstanceOf(LarderException.class);
            return;
        }
        assertThat(rows(text, hasLines)).as(where + " " + text).isEqualTo(expected);
    }

    private static List<String> rows(String text, boolean hasLines) throws IOException {
        CellReader in = reader(text.getBytes(StandardCharsets.UTF_8));
        List<String> rows = new ArrayList<>();
        List<String> row = new ArrayList<>();
        while (in.next()) {
            row.add(in.cell().toString());
            if (in.isLast()) {
                rows.add((hasLines ? in.cell().line() : "") + ":" + row);
                row.clear();
            }
        }
        return rows;
    }

    private static CellReader reader(byte[] text) {
        return CellReader.ofRows(FILE, new ByteArrayInputStream(text), ',', () -> false);
    }

    @Test
    void aMarkOfTheByteOrderIsNoPartOfAQuotedField() throws IOException {
        assertThat(rows("\uFEFF\"a\",b\n", true)).containsExactly("1:[a, b]");
        assertThat(rows("\uFEFF", true)).isEmpty();
        assertThat(rows("x\n\uFEFFy", true)).containsExactly("1:[x]", "2:[\uFEFFy]");
    }

    @Test
    void textBehindAClosingQuoteIsRefusedWithItsLine() {
        assertThatThrownBy(() -> rows("a,b\n\n\"x\ny\"z,1\n", true))
                .hasMessageContaining(
                        "line=3 reason=more follows the closing quote of a field; write \"\" for a quote");
    }

    @Test
    void bytesThatAreNotUtf8AreRefusedWithTheirLine() {
        byte[] text = ("é\n".repeat(50_000) + "a\n?").getBytes(StandardCharsets.UTF_8);
        text[text.length - 1] = (byte) 0xc3;

        assertThatThrownBy(() -> {
                    CellReader in = reader(text);
                    while (in.next()) {
                        assertThat(in.isLast()).isTrue();
                    }
                })
                .hasMessageContaining("line=50002 reason=it is not UTF-8 text");
    }

    @Test
    void aLoadThatIsCancelledEndsAtTheNextBuffer() throws IOException {
        CellReader in = CellReader.ofRows(FILE, new ByteArrayInputStream(new byte[10]), ',', () -> true);

        assertThatThrownBy(in::next).isInstanceOf(CancellationException.class);
    }

    @Test
    void linesEndInLineFeedsOnly() throws IOException {
        byte[] text = "a\r\n\r\n\"b\rc\n,d".getBytes(StandardCharsets.UTF_8);
        CellReader in = CellReader.ofLines(FILE, new ByteArrayInputStream(text), () -> false);
        List<String> lines = new ArrayList<>();

        while (in.next()) {
            lines.add(in.cell().line() + in.cell().toString());
        }

        assertThat(lines).containsExactly("1a", "2", "3\"b\rc", "4,d");
    }
}
