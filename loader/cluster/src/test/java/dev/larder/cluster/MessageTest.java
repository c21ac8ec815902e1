package dev.larder.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.launch.process.OutputLine;
import dev.larder.message.BadMessage;
import dev.larder.message.Messages;
import dev.larder.message.Messages.UnknownFields;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The form of the messages between nodes and the leader. */
class MessageTest {
    private static Message decode(byte[] bytes) {
        return Messages.decode(ByteBuffer.wrap(bytes), Message.class, UnknownFields.SKIPPED);
    }

    private static Message roundTrip(Message message) {
        byte[] bytes = Messages.encode(Message.class, message, Message.MAX_BYTES);
        return Messages.decode(ByteBuffer.wrap(bytes, 0, bytes.length - 1), Message.class, UnknownFields.SKIPPED);
    }

    @Test
    void linesComeByteForByteAndLongTextsWhole() {
        List<OutputLine> lines = List.of(
                new OutputLine(everyByte(), false, false),
                new OutputLine("\u001b[1m", true, true),
                new OutputLine("\0".repeat(64 << 10), false, true),
                new OutputLine("", true, false));
        Message listed = new Message.Listed(0, "file\n".repeat(3_000_000));

        assertThat(roundTrip(Message.Lines.of(7, lines))).isInstanceOfSatisfying(Message.Lines.class, some -> {
            assertThat(some.rank()).isEqualTo(7);
            assertThat(some.outputLines()).isEqualTo(lines);
        });
        assertThat(roundTrip(listed)).isEqualTo(listed);
        assertThat(roundTrip(new Message.Ping())).isEqualTo(new Message.Ping());
    }

    private static String everyByte() {
        StringBuilder raw = new StringBuilder();
        for (char value = 0; value < 256; value++) {
            raw.append(value);
        }
        return raw.toString();
    }

    @Test
    void aMessageWithAFieldOfALaterReleaseIsUnderstood() {
        byte[] later = "{\"failing\":{\"round\":1,\"why\":{\"a\":[1.5]},\"rank\":3}}".getBytes(StandardCharsets.UTF_8);

        assertThat(decode(later)).isEqualTo(new Message.Failing(1, 3));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"sing\":{}}",
                "{}",
                "[]",
                "{\"stop\":{}}",
                "{\"stop\":{\"kind\":\"sing\"}}",
                "{\"listed\":{\"exitCode\":0}}"
            })
    void aMessageOfAnotherKindIsNone(String text) {
        assertThatThrownBy(() -> decode(text.getBytes(StandardCharsets.UTF_8))).isInstanceOf(BadMessage.class);
    }
}
