package dev.larder.server.source.scan;

import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.SourceArray;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/** Writes good and bad source files. */
final class SourceFiles {
    private SourceFiles() {}

    /** Writes a file whose data is the numbers from 0 on, byte by byte. */
    static Path npy(Path file, String descr, long... shape) {
        NpyHeader header = NpyHeader.of(Dtype.parse(descr), Order.C, shape);
        ByteBuffer head = header.encode(64);
        ByteBuffer content = ByteBuffer.allocate(head.remaining() + (int) header.byteSize());
        return write(
                file, content.put(head).put(counting((int) header.byteSize())).array());
    }

    static byte[] idx(int type, int itemSize, int... shape) {
        int size = itemSize;
        for (int dimension : shape) {
            size *= dimension;
        }
        ByteBuffer content = ByteBuffer.allocate(4 + 4 * shape.length + size);
        content.putShort((short) 0).put((byte) type).put((byte) shape.length);
        for (int dimension : shape) {
            content.putInt(dimension);
        }
        return content.put(counting(size)).array();
    }

    static byte[] gzip(byte[] content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    /** Returns a safetensors file whose data is the numbers from 0 on. */
    static byte[] safetensors(String header, int dataBytes) {
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(Long.BYTES + json.length + dataBytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(json.length)
                .put(json)
                .put(counting(dataBytes))
                .array();
    }

    static byte[] counting(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }

    static Path write(Path file, byte[] content) {
        try {
            Files.createDirectories(file.getParent());
            return Files.write(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads the data as a load does, in pieces of an odd size. */
    static byte[] data(SourceArray array) throws IOException {
        ByteBuffer data = ByteBuffer.allocate((int) array.byteSize());
        try (ReadableByteChannel channel = array.open()) {
            while (data.hasRemaining()) {
                ByteBuffer piece = data.slice(data.position(), Math.min(7_001, data.remaining()));
                data.position(data.position() + channel.read(piece));
            }
        }
        return data.array();
    }

    /** Returns the array of this name. */
    static SourceArray array(ScannedSource source, String name) {
        return source.arrays().stream()
                .filter(array -> array.name().array().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Returns the little-endian numbers of an array. */
    static List<Long> longs(ScannedSource source, String name) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(data(array(source, name))).order(ByteOrder.LITTLE_ENDIAN);
        long[] numbers = new long[bytes.remaining() / Long.BYTES];
        bytes.asLongBuffer().get(numbers);
        return Arrays.stream(numbers).boxed().toList();
    }

    /** Returns the data of an array as UTF-8. */
    static String text(ScannedSource source, String name) throws IOException {
        return new String(data(array(source, name)), StandardCharsets.UTF_8);
    }

    /** Gives up what was scanned. */
    static void release(ScannedSource source) {
        source.arrays().forEach(SourceArray::release);
    }
}
