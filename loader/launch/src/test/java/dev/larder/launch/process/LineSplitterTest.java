package dev.larder.launch.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class LineSplitterTest {
    private final List<OutputLine> lines = new ArrayList<>();
    private final LineSplitter splitter = new LineSplitter(false, lines::addAll);

    private void feed(String text, int step) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        for (int at = 0; at < bytes.length; at += step) {
            int count = Math.min(step, bytes.length - at);
            byte[] piece = new byte[count];
            System.arraycopy(bytes, at, piece, 0, count);
            splitter.accept(piece, count);
        }
        splitter.end();
    }

    @Test
    void itDoesNotMatterWhereReadsEnd() {
        for (int step = 1; step < 12; step++) {
            lines.clear();
            feed("a\n\nü\r\nb\rc\r", step);

            assertThat(lines.stream().map(OutputLine::text)).containsExactly("a", "", "ü", "b", "c");
            assertThat(lines.stream().map(OutputLine::isOverwritten)).containsExactly(false, false, false, true, false);
        }
    }

    @Test
    void bytesThatAreNoTextStayAsTheyAre() {
        byte[] bytes = new byte[256];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i == '\n' || i == '\r' ? ' ' : i);
        }

        splitter.accept(bytes, bytes.length);
        splitter.end();

        assertThat(lines).hasSize(1);
        assertThat(lines.get(0).bytes()).isEqualTo(bytes);
    }

    @Test
    void linesOfOneReadAreGivenTogetherInBoundedBatches() {
        List<Integer> sizes = new ArrayList<>();
        LineSplitter batches = new LineSplitter(false, read -> sizes.add(read.size()));
        byte[] bytes = "1234567\n".repeat(1000).getBytes(StandardCharsets.UTF_8);

        batches.accept(bytes, bytes.length);

        assertThat(sizes).containsExactly(512, 488);
    }

    @Test
    void aLineWithoutEndComesInPiecesOfWholeCharacters() {
        String endless = "x" + "ü€😀".repeat(30_000);

        feed(endless, 4096);

        assertThat(lines).hasSizeGreaterThan(3);
        assertThat(lines.stream().map(OutputLine::text).collect(Collectors.joining()))
                .isEqualTo(endless);
    }
}
