package dev.larder.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageReaderTest {
    private static ReadableByteChannel pieces(byte[] bytes, int pieceLength) {
        return Channels.newChannel(new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] target, int offset, int length) {
                return super.read(target, offset, Math.min(length, pieceLength));
            }

            @Override
            public synchronized int available() {
                return 0; // else the channel reads again until the buffer is full
            }
        });
    }

    private static List<String> readAll(MessageReader reader, ReadableByteChannel channel) throws IOException {
        List<String> messages = new ArrayList<>();
        while (reader.read(channel) >= 0) {
            for (ByteBuffer next = reader.next(); next != null; next = reader.next()) {
                messages.add(StandardCharsets.UTF_8.decode(next).toString());
            }
        }
        return messages;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 7, 1000, 100_000})
    void messagesComeOutWholeHoweverTheyAreCutUp(int pieceLength) throws IOException {
        Random random = new Random(7);
        List<String> sent = new ArrayList<>();
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        for (int i = 0; i < 50; i++) {
            String message = "{" + "ö".repeat(random.nextInt(i == 25 ? 60_000 : 600)) + "}";
            sent.add(message);
            stream.writeBytes((message + "\0").getBytes(StandardCharsets.UTF_8));
        }

        assertThat(readAll(new MessageReader(), pieces(stream.toByteArray(), pieceLength)))
                .isEqualTo(sent);
    }

    @Test
    void theLongestMessageIsReadAndALongerOneRefused() throws IOException {
        byte[] longest = ("{" + "x".repeat(Messages.MAX_BYTES - 1) + "\0").getBytes(StandardCharsets.UTF_8);
        byte[] longer = ("{" + "x".repeat(Messages.MAX_BYTES) + "\0").getBytes(StandardCharsets.UTF_8);

        assertThat(readAll(new MessageReader(), pieces(longest, 10_000)))
                .singleElement()
                .satisfies(message -> assertThat(message).hasSize(Messages.MAX_BYTES));
        assertThatThrownBy(() -> readAll(new MessageReader(), pieces(longer, 10_000)))
                .isInstanceOf(BadMessage.class)
                .hasMessageContaining("longer than 1048576 bytes");
    }

    @Test
    void aStreamThatNeverEndsAMessageTakesNoMoreMemoryThanOne() throws IOException {
        MessageBudget budget = new MessageBudget(3L * Messages.MAX_BYTES);
        byte[] endless = new byte[4 * Messages.MAX_BYTES];
        java.util.Arrays.fill(endless, (byte) '{');
        MessageReader reader = new MessageReader(budget);

        assertThatThrownBy(() -> readAll(reader, pieces(endless, 1 << 16))).isInstanceOf(BadMessage.class);
        reader.release();

        assertThat(budget.tryTake(3L * Messages.MAX_BYTES)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"\0", "x", "[", "\n{", "\"", "\ufeff{}"})
    void bytesThatBeginNoObjectAreRefusedImmediately(String text) throws IOException {
        MessageReader reader = new MessageReader();
        reader.read(pieces(text.getBytes(StandardCharsets.UTF_8), 100));

        assertThatThrownBy(reader::next).isInstanceOf(BadMessage.class).hasMessageContaining("does not begin with {");
    }

    @Test
    void severalReadersShareABudget() throws IOException {
        MessageBudget budget = new MessageBudget(14_000);
        byte[] part = ("{" + "x".repeat(5_000)).getBytes(StandardCharsets.UTF_8);
        MessageReader first = new MessageReader(budget);
        MessageReader second = new MessageReader(budget);
        readAll(first, pieces(part, 500));

        assertThatThrownBy(() -> readAll(second, pieces(part, 500))).isInstanceOf(MessageBudget.Exhausted.class);
        first.release();
        second.release();
        assertThat(readAll(second, pieces("{}\0".getBytes(StandardCharsets.UTF_8), 3)))
                .containsExactly("{}");
    }

    @Test
    void shortMessagesNeedNoMoreThanTheFirstKilobyte() throws IOException {
        String message = "{" + "x".repeat(98) + "}";
        byte[] stream = (message + "\0").repeat(50).getBytes(StandardCharsets.UTF_8);

        assertThat(readAll(new MessageReader(new MessageBudget(0)), pieces(stream, 150)))
                .hasSize(50)
                .containsOnly(message);
    }

    @Test
    void onlyAReaderWithoutBytesReturnsItsMemory() throws IOException {
        MessageBudget budget = new MessageBudget(2048);
        ReadableByteChannel channel = pieces(("{" + "x".repeat(1500) + "}\0").getBytes(StandardCharsets.UTF_8), 1100);
        MessageReader reader = new MessageReader(budget);
        reader.read(channel);
        reader.read(channel);

        reader.releaseIfEmpty();
        assertThat(reader.hasBytes()).isTrue();
        assertThat(budget.tryTake(1)).isFalse();

        assertThat(reader.next()).isNotNull();
        reader.releaseIfEmpty();
        assertThat(reader.hasBytes()).isFalse();
        assertThat(budget.tryTake(2048)).isTrue();
    }

    @Test
    void aReaderHasRoomUntilItsBufferIsFull() throws IOException {
        byte[] bytes = "{".repeat(1025).getBytes(StandardCharsets.UTF_8);
        ReadableByteChannel channel = pieces(bytes, 1023);
        MessageReader reader = new MessageReader();

        assertThat(reader.hasRoom()).isTrue();
        reader.read(channel);
        assertThat(reader.hasRoom()).isTrue();
        assertThat(reader.read(channel)).isEqualTo(1);
        assertThat(reader.hasRoom()).isFalse();
        assertThat(reader.beginning(3)).asString(StandardCharsets.UTF_8).isEqualTo("{{{");
        assertThat(reader.beginning(5000)).hasSize(1024);
    }

    @Test
    void bytesOfAMessageThatWasTakenAreRoomAgain() throws IOException {
        byte[] bytes = ("{" + "x".repeat(1000) + "}\0" + "{".repeat(21)).getBytes(StandardCharsets.UTF_8);
        MessageReader reader = new MessageReader(new MessageBudget(0));
        reader.read(pieces(bytes, 1024));
        assertThat(reader.hasRoom()).isFalse();

        assertThat(reader.next()).isNotNull();

        assertThat(reader.hasRoom()).isTrue();
        assertThat(reader.hasBytes()).isTrue();
        assertThat(reader.beginning(100)).asString(StandardCharsets.UTF_8).isEqualTo("{".repeat(21));
    }

    @Test
    void aStreamIsReadMessageByMessageUntilItEnds() throws IOException {
        InputStream stream = new ByteArrayInputStream("{1}\0{22}\0{3".getBytes(StandardCharsets.UTF_8));
        MessageReader reader = new MessageReader();

        assertThat(StandardCharsets.UTF_8.decode(reader.next(stream)).toString())
                .isEqualTo("{1}");
        assertThat(StandardCharsets.UTF_8.decode(reader.next(stream)).toString())
                .isEqualTo("{22}");
        assertThatThrownBy(() -> reader.next(stream))
                .isInstanceOf(EOFException.class)
                .hasMessage("the stream ended within a message");
        assertThatThrownBy(() -> new MessageReader().next(InputStream.nullInputStream()))
                .isInstanceOf(EOFException.class)
                .hasMessage("the stream ended");
    }

    @Test
    void aReaderOfLongMessagesReadsThem() throws IOException {
        byte[] bytes = ("{" + "x".repeat(3 * Messages.MAX_BYTES) + "}\0").getBytes(StandardCharsets.UTF_8);

        assertThat(new MessageReader(bytes.length - 1)
                        .next(new ByteArrayInputStream(bytes))
                        .remaining())
                .isEqualTo(bytes.length - 1);
        assertThatThrownBy(() -> new MessageReader(bytes.length - 2).next(new ByteArrayInputStream(bytes)))
                .hasMessage("it is longer than " + (bytes.length - 2) + " bytes");
    }
}
