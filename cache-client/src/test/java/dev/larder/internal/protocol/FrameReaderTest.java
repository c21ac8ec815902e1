package dev.larder.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FrameReaderTest {
    private static final int MAX = 64 * 1024;

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 7, 1000, 100_000})
    void framesComeOutWholeHoweverTheyAreCutUp(int pieceLength) throws IOException {
        Random random = new Random(7);
        List<byte[]> sent = new ArrayList<>();
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        for (int i = 0; i < 50; i++) {
            byte[] body = new byte[8 + random.nextInt(i == 25 ? MAX - 8 : 600)];
            random.nextBytes(body);
            sent.add(body);
            stream.write(length(body.length));
            stream.write(body);
        }

        List<byte[]> received = readAll(pieces(stream.toByteArray(), pieceLength));

        assertThat(received).usingRecursiveComparison().isEqualTo(sent);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 7, MAX + 1, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void aLengthOutOfRangeIsRefusedBeforeAnythingIsAllocated(int length) throws IOException {
        FrameReader reader = new FrameReader(MAX);
        reader.read(pieces(length(length), 4));

        assertThatThrownBy(reader::next)
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("length=" + length)
                .hasMessageContaining("limit=65536");
    }

    @Test
    void theLongestFrameAllowedIsRead() throws IOException {
        byte[] frame = new byte[4 + MAX];
        System.arraycopy(length(MAX), 0, frame, 0, 4);

        assertThat(readAll(pieces(frame, 4096)))
                .singleElement()
                .satisfies(body -> assertThat(body).hasSize(MAX));
    }

    private static List<byte[]> readAll(ReadableByteChannel channel) throws IOException {
        FrameReader reader = new FrameReader(MAX);
        List<byte[]> frames = new ArrayList<>();
        while (reader.read(channel) >= 0) {
            for (ByteBuffer frame = reader.next(); frame != null; frame = reader.next()) {
                byte[] body = new byte[frame.remaining()];
                frame.get(body);
                frames.add(body);
            }
        }
        return frames;
    }

    private static byte[] length(int length) {
        return ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(length)
                .array();
    }

    private static ReadableByteChannel pieces(byte[] bytes, int pieceLength) {
        return Channels.newChannel(new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] target, int offset, int length) {
                return super.read(target, offset, Math.min(length, pieceLength));
            }
        });
    }
}
