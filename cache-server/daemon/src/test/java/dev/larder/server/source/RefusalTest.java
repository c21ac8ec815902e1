package dev.larder.server.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class RefusalTest {
    @Test
    void aFailureWithoutAMessageIsPutIntoWords() {
        assertThat(Refusal.words(new EOFException())).isEqualTo("it ends too early");
        assertThat(Refusal.words(new ClosedChannelException())).isEqualTo("ClosedChannelException");
        assertThat(Refusal.words(new IOException("disk on fire"))).isEqualTo("disk on fire");
        assertThat(Refusal.unreadable(Path.of("x"), 0, new ClosedChannelException()))
                .hasMessageContaining("reason=ClosedChannelException;");
    }

    @Test
    void theRemedyForADamagedFileKeepsItsData() {
        assertThat(Refusal.of(Path.of("x"), 8, "it is cut off"))
                .hasMessageEndingWith(
                        "; restore the file or write it again, or leave it out of its folder with --exclude");
    }
}
