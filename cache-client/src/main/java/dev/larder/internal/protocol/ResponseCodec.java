package dev.larder.internal.protocol;

import static dev.larder.internal.protocol.MessageWriter.MESSAGE;
import static dev.larder.internal.protocol.MessageWriter.cut;
import static dev.larder.internal.protocol.MessageWriter.whole;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.sbe.ArrayRowDecoder;
import dev.larder.internal.protocol.sbe.ArrayRowEncoder;
import dev.larder.internal.protocol.sbe.BuildDecoder;
import dev.larder.internal.protocol.sbe.BuildEncoder;
import dev.larder.internal.protocol.sbe.DoneDecoder;
import dev.larder.internal.protocol.sbe.DoneEncoder;
import dev.larder.internal.protocol.sbe.ErrorRowDecoder;
import dev.larder.internal.protocol.sbe.ErrorRowEncoder;
import dev.larder.internal.protocol.sbe.Flag;
import dev.larder.internal.protocol.sbe.LongTextDecoder;
import dev.larder.internal.protocol.sbe.NameTextDecoder;
import dev.larder.internal.protocol.sbe.OrderCode;
import dev.larder.internal.protocol.sbe.PathTextDecoder;
import dev.larder.internal.protocol.sbe.PhaseCode;
import dev.larder.internal.protocol.sbe.ProblemDecoder;
import dev.larder.internal.protocol.sbe.ProblemEncoder;
import dev.larder.internal.protocol.sbe.ProgressDecoder;
import dev.larder.internal.protocol.sbe.ProgressEncoder;
import dev.larder.internal.protocol.sbe.RegionRowDecoder;
import dev.larder.internal.protocol.sbe.ShortTextDecoder;
import dev.larder.internal.protocol.sbe.StateCode;
import dev.larder.internal.protocol.sbe.StatusReplyDecoder;
import dev.larder.internal.protocol.sbe.StatusReplyEncoder;
import dev.larder.internal.protocol.sbe.WelcomeDecoder;
import dev.larder.internal.protocol.sbe.WelcomeEncoder;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Turns responses into frames and back. Texts for people are cut where the schema's limit is passed, all others refused.
 * Used by one thread; a frame is valid until the next one is encoded.
 */
public final class ResponseCodec {
    private static final int SHORT = ShortTextDecoder.lengthMaxValue();
    private static final int NAME = NameTextDecoder.lengthMaxValue();
    private static final int PATH = PathTextDecoder.lengthMaxValue();
    private static final int LONG = LongTextDecoder.lengthMaxValue();

    private final MessageWriter writer = new MessageWriter(Protocol.MAX_RESPONSE_LENGTH);

    /** Encodes a response with its length in front. */
    public ByteBuffer encode(Response response) {
        return writer.frame(encodeBody(response));
    }

    /** Decodes a frame without its length. Whatever breaks the schema is refused with what and where. */
    public Response decode(ByteBuffer frame) {
        MessageReader reader = new MessageReader(frame);
        return switch (reader.templateId()) {
            case WelcomeDecoder.TEMPLATE_ID -> welcome(reader);
            case ProblemDecoder.TEMPLATE_ID -> problem(reader);
            case DoneDecoder.TEMPLATE_ID -> done(reader);
            case ProgressDecoder.TEMPLATE_ID -> progress(reader);
            case ArrayRowDecoder.TEMPLATE_ID -> row(reader);
            case StatusReplyDecoder.TEMPLATE_ID -> status(reader);
            case BuildDecoder.TEMPLATE_ID -> build(reader);
            case ErrorRowDecoder.TEMPLATE_ID -> error(reader);
            case RegionRowDecoder.TEMPLATE_ID -> RegionCodec.row(reader);
            default -> throw reader.malformed("response", reader.templateId());
        };
    }

    private int encodeBody(Response response) {
        if (response instanceof ArrayRow row) {
            return encodeRow(row);
        } else if (response instanceof Progress progress) {
            return encodeProgress(progress);
        } else if (response instanceof Done done) {
            return encodeDone(done);
        } else if (response instanceof Problem problem) {
            return encodeProblem(problem);
        } else if (response instanceof DaemonStatus status) {
            return encodeStatus(status);
        } else if (response instanceof Welcome welcome) {
            return encodeWelcome(welcome);
        } else if (response instanceof ErrorRow error) {
            return new ErrorRowEncoder()
                    .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                    .count(error.count())
                    .firstEpochMs(error.first().toEpochMilli())
                    .lastEpochMs(error.last().toEpochMilli())
                    .message(cut(error.message(), LONG))
                    .trace(cut(error.trace(), LONG))
                    .limit();
        } else if (response instanceof RegionRow row) {
            return RegionCodec.encode(row, writer);
        } else if (response instanceof Build build) {
            return new BuildEncoder()
                    .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                    .token(build.token())
                    .folder(whole("folder", build.folder(), PATH))
                    .limit();
        }
        throw new IllegalArgumentException("no encoding for " + response);
    }

    private int encodeWelcome(Welcome welcome) {
        return new WelcomeEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .protocolMajor(welcome.protocolMajor())
                .protocolMinor(welcome.protocolMinor())
                .formatVersion(welcome.formatVersion())
                .daemonPid(welcome.daemonPid())
                .uptimeMs(welcome.uptime().toMillis())
                .daemonVersion(whole("daemonVersion", welcome.daemonVersion(), SHORT))
                .limit();
    }

    private int encodeProblem(Problem problem) {
        return new ProblemEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .code(problem.rawCode())
                .message(cut(problem.message(), LONG))
                .trace(cut(problem.trace(), LONG))
                .limit();
    }

    private int encodeDone(Done done) {
        return new DoneEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .files(done.files())
                .bytes(done.bytes())
                .heldBytes(done.heldBytes())
                .holders(cut(done.holders(), LONG))
                .message(cut(done.message(), LONG))
                .limit();
    }

    private int encodeProgress(Progress progress) {
        Progress.Phase phase = progress.phase();
        return new ProgressEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .phase(phase == Progress.Phase.OTHER ? PhaseCode.WAITING : PhaseCode.valueOf(phase.name()))
                .bytesDone(progress.bytesDone())
                .bytesTotal(progress.bytesTotal())
                .filesDone(progress.filesDone())
                .filesTotal(progress.filesTotal())
                .name(cut(progress.name(), NAME))
                .message(cut(progress.message(), LONG))
                .limit();
    }

    private int encodeRow(ArrayRow row) {
        if (row.state() == ArrayRow.State.OTHER || row.state() == ArrayRow.State.COMPUTED) {
            throw new IllegalArgumentException("only a client knows this state: " + row);
        }
        ArrayRowEncoder encoder = new ArrayRowEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .bytes(row.bytes())
                .version(row.version())
                .dataOffset(row.offset())
                .leases(row.leases())
                .order(OrderCode.get((byte) row.order()))
                .state(StateCode.valueOf(row.state().name()))
                .pinned(row.pinned() ? Flag.YES : Flag.NO)
                .part(row.part().code());
        ArrayRowEncoder.ShapeEncoder shape = encoder.shapeCount(row.shape().size());
        row.shape().forEach(extent -> shape.next().extent(extent));
        return encoder.name(whole("name", row.name(), NAME))
                .dtype(whole("dtype", row.dtype(), LONG))
                .digest(whole("digest", row.digest(), SHORT))
                .crc32c(whole("crc32c", row.crc32c(), SHORT))
                .path(whole("path", row.path(), PATH))
                .source(cut(row.source(), PATH))
                .limit();
    }

    private int encodeStatus(DaemonStatus status) {
        return new StatusReplyEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .pid(status.pid())
                .capacityBytes(status.capacityBytes())
                .usedBytes(status.usedBytes())
                .leasedBytes(status.leasedBytes())
                .pinnedBytes(status.pinnedBytes())
                .retiredBytes(status.retiredBytes())
                .arrays(status.arrays())
                .clients(status.clients())
                .uptimeMs(status.uptime().toMillis())
                .hugeBytes(status.hugeBytes())
                .hugeRefusedBytes(status.hugeRefusedBytes())
                .store(whole("store", status.store(), PATH))
                .version(whole("version", status.version(), SHORT))
                .hugePages(cut(status.hugePages(), SHORT))
                .statusPage(whole("statusPage", status.statusPage(), SHORT))
                .limit();
    }

    private static Response build(MessageReader reader) {
        BuildDecoder decoder = new BuildDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(BuildDecoder.BLOCK_LENGTH), reader.version());
        return new Build(decoder.token(), reader.text("folder", PATH, decoder::limit, decoder::skipFolder));
    }

    private static Response error(MessageReader reader) {
        ErrorRowDecoder decoder = new ErrorRowDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(ErrorRowDecoder.BLOCK_LENGTH), reader.version());
        String message = reader.text("message", LONG, decoder::limit, decoder::skipMessage);
        String trace = reader.text("trace", LONG, decoder::limit, decoder::skipTrace);
        return new ErrorRow(
                decoder.count(),
                Instant.ofEpochMilli(decoder.firstEpochMs()),
                Instant.ofEpochMilli(decoder.lastEpochMs()),
                message,
                trace);
    }

    private static Response welcome(MessageReader reader) {
        WelcomeDecoder decoder = new WelcomeDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(WelcomeDecoder.BLOCK_LENGTH), reader.version());
        return new Welcome(
                decoder.protocolMajor(),
                decoder.protocolMinor(),
                (int) decoder.formatVersion(),
                decoder.daemonPid(),
                Duration.ofMillis(decoder.uptimeMs()),
                reader.text("daemonVersion", SHORT, decoder::limit, decoder::skipDaemonVersion));
    }

    private static Response problem(MessageReader reader) {
        ProblemDecoder decoder = new ProblemDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(ProblemDecoder.BLOCK_LENGTH), reader.version());
        return new Problem(
                decoder.code(),
                reader.text("message", LONG, decoder::limit, decoder::skipMessage),
                reader.text("trace", LONG, decoder::limit, decoder::skipTrace));
    }

    private static Response done(MessageReader reader) {
        DoneDecoder decoder = new DoneDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(DoneDecoder.BLOCK_LENGTH), reader.version());
        String holders = reader.text("holders", LONG, decoder::limit, decoder::skipHolders);
        String message = reader.text("message", LONG, decoder::limit, decoder::skipMessage);
        return new Done(decoder.files(), decoder.bytes(), decoder.heldBytes(), holders, message);
    }

    private static Response progress(MessageReader reader) {
        ProgressDecoder decoder = new ProgressDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(ProgressDecoder.BLOCK_LENGTH), reader.version());
        String name = reader.text("name", NAME, decoder::limit, decoder::skipName);
        String message = reader.text("message", LONG, decoder::limit, decoder::skipMessage);
        return new Progress(
                phase(decoder.phase()),
                name,
                decoder.bytesDone(),
                decoder.bytesTotal(),
                decoder.filesDone(),
                decoder.filesTotal(),
                message);
    }

    private static Response row(MessageReader reader) {
        ArrayRowDecoder decoder = new ArrayRowDecoder();
        boolean hasPart = reader.version() >= ArrayRowDecoder.partSinceVersion();
        int leastLength = hasPart ? ArrayRowDecoder.BLOCK_LENGTH : ArrayRowDecoder.partEncodingOffset();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(leastLength), reader.version());
        List<Long> shape = shape(reader, decoder);
        String name = reader.text("name", NAME, decoder::limit, decoder::skipName);
        String dtype = reader.text("dtype", LONG, decoder::limit, decoder::skipDtype);
        String digest = reader.text("digest", SHORT, decoder::limit, decoder::skipDigest);
        String crc32c = reader.text("crc32c", SHORT, decoder::limit, decoder::skipCrc32c);
        String path = reader.text("path", PATH, decoder::limit, decoder::skipPath);
        String source = reader.text("source", PATH, decoder::limit, decoder::skipSource);
        return new ArrayRow(
                name,
                dtype,
                shape,
                decoder.order() == OrderCode.F ? 'F' : 'C',
                decoder.bytes(),
                decoder.version(),
                digest,
                state(decoder.state()),
                decoder.pinned() == Flag.YES,
                decoder.leases(),
                path,
                decoder.dataOffset(),
                crc32c,
                source,
                hasPart ? part(decoder.part()) : ColumnPart.NONE);
    }

    /** What belongs to a kind of column that a newer release invented is still an array. */
    private static ColumnPart part(int code) {
        return Objects.requireNonNullElse(ColumnPart.of(code), ColumnPart.NONE);
    }

    private static List<Long> shape(MessageReader reader, ArrayRowDecoder decoder) {
        reader.groupHeader("shape", decoder.limit());
        ArrayRowDecoder.ShapeDecoder group = decoder.shape();
        List<Long> shape = new ArrayList<>();
        while (group.hasNext()) {
            reader.groupBlock("shape", decoder.limit(), Long.BYTES, group.actingBlockLength());
            shape.add(group.next().extent());
        }
        return shape;
    }

    private static Response status(MessageReader reader) {
        StatusReplyDecoder decoder = new StatusReplyDecoder();
        decoder.wrap(
                reader.buffer(), MessageReader.BODY, reader.block(StatusReplyDecoder.BLOCK_LENGTH), reader.version());
        String store = reader.text("store", PATH, decoder::limit, decoder::skipStore);
        String version = reader.text("version", SHORT, decoder::limit, decoder::skipVersion);
        String hugePages = reader.text("hugePages", SHORT, decoder::limit, decoder::skipHugePages);
        String statusPage = reader.version() < StatusReplyDecoder.statusPageSinceVersion()
                ? ""
                : reader.text("statusPage", SHORT, decoder::limit, decoder::skipStatusPage);
        return new DaemonStatus(
                store,
                decoder.pid(),
                version,
                decoder.capacityBytes(),
                decoder.usedBytes(),
                decoder.leasedBytes(),
                decoder.pinnedBytes(),
                decoder.retiredBytes(),
                decoder.arrays(),
                decoder.clients(),
                hugePages,
                decoder.hugeBytes(),
                decoder.hugeRefusedBytes(),
                Duration.ofMillis(decoder.uptimeMs()),
                statusPage);
    }

    private static Progress.Phase phase(PhaseCode code) {
        return switch (code) {
            case WAITING -> Progress.Phase.WAITING;
            case SCANNING -> Progress.Phase.SCANNING;
            case LOADING -> Progress.Phase.LOADING;
            case PUBLISHING -> Progress.Phase.PUBLISHING;
            case VERIFYING -> Progress.Phase.VERIFYING;
            case REMOVING -> Progress.Phase.REMOVING;
            case SBE_UNKNOWN, NULL_VAL -> Progress.Phase.OTHER;
        };
    }

    private static ArrayRow.State state(StateCode code) {
        return switch (code) {
            case RESIDENT -> ArrayRow.State.RESIDENT;
            case MAPPED -> ArrayRow.State.MAPPED;
            case LOADING -> ArrayRow.State.LOADING;
            case REGISTERED -> ArrayRow.State.REGISTERED;
            case RETIRED -> ArrayRow.State.RETIRED;
            case SBE_UNKNOWN, NULL_VAL -> ArrayRow.State.OTHER;
        };
    }
}
