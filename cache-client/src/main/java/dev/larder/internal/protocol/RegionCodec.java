package dev.larder.internal.protocol;

import static dev.larder.internal.protocol.MessageWriter.MESSAGE;
import static dev.larder.internal.protocol.MessageWriter.whole;

import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.protocol.sbe.CreateRegionDecoder;
import dev.larder.internal.protocol.sbe.CreateRegionEncoder;
import dev.larder.internal.protocol.sbe.Flag;
import dev.larder.internal.protocol.sbe.ListRegionsDecoder;
import dev.larder.internal.protocol.sbe.ListRegionsEncoder;
import dev.larder.internal.protocol.sbe.NameTextDecoder;
import dev.larder.internal.protocol.sbe.PathTextDecoder;
import dev.larder.internal.protocol.sbe.RegionRowDecoder;
import dev.larder.internal.protocol.sbe.RegionRowEncoder;
import dev.larder.internal.protocol.sbe.RemoveRegionDecoder;
import dev.larder.internal.protocol.sbe.RemoveRegionEncoder;
import dev.larder.internal.protocol.sbe.ShortTextDecoder;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;

/** Turns what is said of regions into bytes and back. */
final class RegionCodec {
    private static final int NAME = NameTextDecoder.lengthMaxValue();
    private static final int SHORT = ShortTextDecoder.lengthMaxValue();
    private static final Pattern KIND = Pattern.compile("[a-z0-9-]{1," + (RegionDescriptor.KIND_LENGTH - 1) + "}");
    private static final int PATH = PathTextDecoder.lengthMaxValue();

    /** No machine has more, and sums of a few such do not overflow. */
    private static final long MOST_BYTES = 1L << 60;

    private RegionCodec() {}

    static int encode(RegionRequest request, MessageWriter writer) {
        if (request instanceof RegionRequest.Create create) {
            return encode(create, writer);
        } else if (request instanceof RegionRequest.Remove remove) {
            return encode(remove, writer);
        }
        return encode((RegionRequest.ListAll) request, writer);
    }

    private static int encode(RegionRequest.Create request, MessageWriter writer) {
        return new CreateRegionEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .bytes(request.byteSize())
                .withoutFile(request.sealed() ? Flag.YES : Flag.NO)
                .name(whole("name", request.name(), NAME))
                .kind(whole("kind", request.kind(), SHORT))
                .limit();
    }

    private static int encode(RegionRequest.ListAll request, MessageWriter writer) {
        return new ListRegionsEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .name(whole("name", request.name(), NAME))
                .limit();
    }

    private static int encode(RegionRequest.Remove request, MessageWriter writer) {
        return new RemoveRegionEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .regionId(request.id())
                .name(whole("name", request.name(), NAME))
                .limit();
    }

    static int encode(RegionRow row, MessageWriter writer) {
        return new RegionRowEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .regionId(row.id())
                .bytes(row.byteSize())
                .creatorPid(row.creatorPid())
                .createdEpochMs(row.created().toEpochMilli())
                .name(whole("name", row.name(), NAME))
                .kind(whole("kind", row.kind(), SHORT))
                .path(whole("path", row.path().map(Path::toString).orElse(""), PATH))
                .limit();
    }

    static Request create(MessageReader reader) {
        CreateRegionDecoder decoder = new CreateRegionDecoder();
        int block = reader.block(CreateRegionDecoder.BLOCK_LENGTH);
        decoder.wrap(reader.buffer(), MessageReader.BODY, block, reader.version());
        long byteSize = decoder.bytes();
        if (byteSize <= 0 || byteSize > MOST_BYTES) {
            throw reader.malformed("bytes", byteSize);
        }
        String name = reader.text("name", NAME, decoder::limit, decoder::skipName);
        String kind = reader.text("kind", SHORT, decoder::limit, decoder::skipKind);
        if (!KIND.matcher(kind).matches()) {
            throw reader.malformed("kind", kind.length());
        }
        return new RegionRequest.Create(name, kind, byteSize, decoder.withoutFile() == Flag.YES);
    }

    static Request list(MessageReader reader) {
        ListRegionsDecoder decoder = new ListRegionsDecoder();
        int block = reader.block(ListRegionsDecoder.BLOCK_LENGTH);
        decoder.wrap(reader.buffer(), MessageReader.BODY, block, reader.version());
        return new RegionRequest.ListAll(reader.text("name", NAME, decoder::limit, decoder::skipName));
    }

    static Request remove(MessageReader reader) {
        RemoveRegionDecoder decoder = new RemoveRegionDecoder();
        int block = reader.block(RemoveRegionDecoder.BLOCK_LENGTH);
        decoder.wrap(reader.buffer(), MessageReader.BODY, block, reader.version());
        return new RegionRequest.Remove(
                reader.text("name", NAME, decoder::limit, decoder::skipName), decoder.regionId());
    }

    static Response row(MessageReader reader) {
        RegionRowDecoder decoder = new RegionRowDecoder();
        int block = reader.block(RegionRowDecoder.BLOCK_LENGTH);
        decoder.wrap(reader.buffer(), MessageReader.BODY, block, reader.version());
        String name = reader.text("name", NAME, decoder::limit, decoder::skipName);
        String kind = reader.text("kind", SHORT, decoder::limit, decoder::skipKind);
        String path = reader.text("path", PATH, decoder::limit, decoder::skipPath);
        return new RegionRow(
                name,
                kind,
                decoder.regionId(),
                decoder.bytes(),
                path.isEmpty() ? Optional.empty() : Optional.of(path(reader, path)),
                decoder.creatorPid(),
                Instant.ofEpochMilli(decoder.createdEpochMs()));
    }

    private static Path path(MessageReader reader, String text) {
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw reader.malformed("path", text.length());
        }
    }
}
