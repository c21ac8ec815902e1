package dev.larder.command.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.command.output.Json;
import dev.larder.internal.posix.TerminalSize;
import dev.larder.server.metrics.Counter;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class TopScreenTest {
    @Test
    void whatFitsIsShownAsItIs() {
        assertThat(TopScreen.fit(List.of("abcd", ""), new TerminalSize(4, 2))).containsExactly("abcd", "");
    }

    @Test
    void wideLinesAreCutByCharactersNotByChars() {
        assertThat(TopScreen.fit(List.of("😀😀😀😀"), new TerminalSize(3, 2))).containsExactly("😀😀…");
    }

    @Test
    void linesWithoutRoomAreCounted() {
        assertThat(TopScreen.fit(List.of("a", "b", "c", "d"), new TerminalSize(20, 3)))
                .containsExactly("a", "b", "… and 2 more");
    }

    @Test
    void keysOfCountersAreCamelCaseAndDistinct() {
        assertThat(Json.key(Counter.SPACE_REFUSALS.label())).isEqualTo("spaceRefusals");
        assertThat(Arrays.stream(Counter.values()).map(counter -> Json.key(counter.label())))
                .doesNotHaveDuplicates()
                .allMatch(key -> key.matches("[a-z][a-zA-Z0-9]*"));
    }
}
