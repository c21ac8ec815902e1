package dev.larder.server.source.formats;

import com.google.gson.JsonParseException;
import dev.larder.internal.layout.Names;
import dev.larder.npy.NpyHeader;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Extents;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * Safetensors: named arrays back to back behind a header of JSON.
 *
 * <pre>
 *   0               8                     8 + n
 *   +---------------+---------------------+----------------------
 *   | n, u64 little | {"name": {...}, ..} | data without a gap
 *   +---------------+---------------------+----------------------
 * </pre>
 */
final class SafetensorsFormat implements SourceFormat {
    /** Enough for 100,000 tensors. */
    static final int MAX_HEADER_BYTES = 16 << 20;

    /** A parsed header takes several times its length. */
    private static final int HEAP_PARTS = 16;

    @Override
    public List<SourceArray> arrays(DiscoveredFile file, SourceProbe probe) throws IOException {
        long fileBytes = file.byteSize();
        byte[] json;
        try (FileChannel channel = FileChannel.open(file.path(), StandardOpenOption.READ)) {
            json = header(file.path(), channel, fileBytes);
        }
        List<SafetensorsHeader.Tensor> tensors = parse(file.path(), json);
        long dataOffset = (long) Long.BYTES + json.length;
        requireWithoutGap(file.path(), tensors, fileBytes - dataOffset);
        List<SourceArray> arrays = new ArrayList<>();
        Set<String> chosen = probe.choose(
                file, tensors.stream().map(SafetensorsHeader.Tensor::arrayName).toList());
        for (SafetensorsHeader.Tensor tensor : tensors) {
            if (!chosen.contains(tensor.arrayName())) {
                continue;
            } else if (tensor.refusal() != null) {
                throw tensors.size() > 1 ? Refusal.orOthers(tensor.refusal()) : tensor.refusal();
            }
            Extent region = new Extent(file.path(), dataOffset + tensor.begin(), tensor.end() - tensor.begin());
            arrays.add(probe.array(file, tensor.arrayName(), tensor.header(), Extents.of(region)));
        }
        return arrays;
    }

    private static byte[] header(Path file, FileChannel channel, long fileBytes) throws IOException {
        long length = read(channel, 0, Long.BYTES).getLong();
        if (length < 2 || length > fileBytes - Long.BYTES) {
            throw Refusal.of(
                    file, 0, "its header would have " + Long.toUnsignedString(length) + " bytes of " + fileBytes);
        }
        long limit = Math.min(MAX_HEADER_BYTES, Runtime.getRuntime().maxMemory() / HEAP_PARTS);
        if (length > limit) {
            throw Refusal.of(
                    file,
                    0,
                    "its header has " + length + " bytes, more than the limit of " + limit + ", which is "
                            + (limit == MAX_HEADER_BYTES ? "fixed" : "1/16 of the heap (LARDER_DAEMON_HEAP)"));
        }
        return read(channel, Long.BYTES, (int) length).array();
    }

    private static ByteBuffer read(FileChannel channel, long offset, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, offset + buffer.position()) < 0) {
                throw new EOFException();
            }
        }
        return buffer.flip();
    }

    private static List<SafetensorsHeader.Tensor> parse(Path file, byte[] json) {
        try {
            return new SafetensorsHeader(file).parse(json);
        } catch (IOException | JsonParseException | IllegalStateException | NumberFormatException e) {
            throw Refusal.of(file, Long.BYTES, "its header is not valid JSON (" + Refusal.words(e) + ")");
        }
    }

    private static void requireWithoutGap(Path file, List<SafetensorsHeader.Tensor> tensors, long dataBytes) {
        long at = 0;
        List<SafetensorsHeader.Tensor> sorted = tensors.stream()
                .sorted(Comparator.comparingLong(SafetensorsHeader.Tensor::begin)
                        .thenComparingLong(SafetensorsHeader.Tensor::end))
                .toList();
        for (SafetensorsHeader.Tensor tensor : sorted) {
            String what = "tensor " + Names.printable(tensor.name()) + ": ";
            NpyHeader header = tensor.header();
            if (tensor.begin() < 0 || tensor.end() < tensor.begin() || tensor.end() > dataBytes) {
                throw Refusal.of(file, Long.BYTES, what + "its data would not lie within the file");
            } else if (tensor.refusal() == null && tensor.end() - tensor.begin() != header.byteSize()) {
                throw Refusal.of(
                        file,
                        Long.BYTES,
                        what + "its data has " + (tensor.end() - tensor.begin()) + " bytes, its shape "
                                + header.byteSize());
            } else if (tensor.begin() != at) {
                String how = tensor.begin() < at ? "it overlaps the one before it" : "there is a gap before it";
                throw Refusal.of(file, Long.BYTES, what + how);
            }
            at = tensor.end();
        }
        if (at != dataBytes) {
            throw Refusal.of(file, 0, dataBytes - at + " bytes follow the last tensor");
        }
    }
}
