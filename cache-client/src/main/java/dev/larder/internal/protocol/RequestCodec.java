package dev.larder.internal.protocol;

import static dev.larder.internal.protocol.MessageWriter.MESSAGE;
import static dev.larder.internal.protocol.MessageWriter.whole;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.ShardRows;
import dev.larder.internal.protocol.sbe.AsCode;
import dev.larder.internal.protocol.sbe.CreateDecoder;
import dev.larder.internal.protocol.sbe.CreateEncoder;
import dev.larder.internal.protocol.sbe.CreateRegionDecoder;
import dev.larder.internal.protocol.sbe.ErrorsDecoder;
import dev.larder.internal.protocol.sbe.ErrorsEncoder;
import dev.larder.internal.protocol.sbe.EvictDecoder;
import dev.larder.internal.protocol.sbe.EvictEncoder;
import dev.larder.internal.protocol.sbe.Flag;
import dev.larder.internal.protocol.sbe.HelloDecoder;
import dev.larder.internal.protocol.sbe.HelloEncoder;
import dev.larder.internal.protocol.sbe.InfoDecoder;
import dev.larder.internal.protocol.sbe.InfoEncoder;
import dev.larder.internal.protocol.sbe.ListDecoder;
import dev.larder.internal.protocol.sbe.ListEncoder;
import dev.larder.internal.protocol.sbe.ListRegionsDecoder;
import dev.larder.internal.protocol.sbe.LoadDecoder;
import dev.larder.internal.protocol.sbe.LoadEncoder;
import dev.larder.internal.protocol.sbe.LoadsDecoder;
import dev.larder.internal.protocol.sbe.LoadsEncoder;
import dev.larder.internal.protocol.sbe.LongTextDecoder;
import dev.larder.internal.protocol.sbe.MakeRoomDecoder;
import dev.larder.internal.protocol.sbe.MakeRoomEncoder;
import dev.larder.internal.protocol.sbe.NameTextDecoder;
import dev.larder.internal.protocol.sbe.NewFilesDecoder;
import dev.larder.internal.protocol.sbe.NoteWholeDecoder;
import dev.larder.internal.protocol.sbe.NoteWholeEncoder;
import dev.larder.internal.protocol.sbe.PathTextDecoder;
import dev.larder.internal.protocol.sbe.PinDecoder;
import dev.larder.internal.protocol.sbe.PinEncoder;
import dev.larder.internal.protocol.sbe.PublishDecoder;
import dev.larder.internal.protocol.sbe.PublishEncoder;
import dev.larder.internal.protocol.sbe.ReloadDecoder;
import dev.larder.internal.protocol.sbe.ReloadEncoder;
import dev.larder.internal.protocol.sbe.RemoveRegionDecoder;
import dev.larder.internal.protocol.sbe.ShortTextDecoder;
import dev.larder.internal.protocol.sbe.StatusDecoder;
import dev.larder.internal.protocol.sbe.StatusEncoder;
import dev.larder.internal.protocol.sbe.StopDecoder;
import dev.larder.internal.protocol.sbe.StopEncoder;
import dev.larder.internal.protocol.sbe.VerifyDecoder;
import dev.larder.internal.protocol.sbe.VerifyEncoder;
import dev.larder.internal.protocol.sbe.WaitDecoder;
import dev.larder.internal.protocol.sbe.WaitEncoder;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Turns requests into frames and back. Used by one thread; a frame is valid until the next one is encoded. */
public final class RequestCodec {
    private static final int NAME = NameTextDecoder.lengthMaxValue();
    private static final int SHORT = ShortTextDecoder.lengthMaxValue();

    /** More could not stand in a request, however short they are. */
    private static final int MAX_ELEMENTS = 65_534; // what numInGroup can count

    private final MessageWriter writer = new MessageWriter(Protocol.MAX_REQUEST_LENGTH);

    /** Encodes a request with its length in front. A text that is longer than the schema allows is refused. */
    public ByteBuffer encode(Request request) {
        return writer.frame(encodeBody(request));
    }

    /** Decodes a frame without its length. Whatever breaks the schema is refused with what and where. */
    public Request decode(ByteBuffer frame) {
        MessageReader reader = new MessageReader(frame);
        return switch (reader.templateId()) {
            case HelloDecoder.TEMPLATE_ID -> hello(reader);
            case LoadDecoder.TEMPLATE_ID -> load(reader);
            case WaitDecoder.TEMPLATE_ID -> await(reader);
            case ListDecoder.TEMPLATE_ID -> list(reader);
            case InfoDecoder.TEMPLATE_ID -> info(reader);
            case EvictDecoder.TEMPLATE_ID -> evict(reader);
            case VerifyDecoder.TEMPLATE_ID -> verify(reader);
            case StatusDecoder.TEMPLATE_ID -> new Request.Status();
            case StopDecoder.TEMPLATE_ID -> stop(reader);
            case ReloadDecoder.TEMPLATE_ID -> reload(reader);
            case CreateDecoder.TEMPLATE_ID -> create(reader);
            case PublishDecoder.TEMPLATE_ID -> publish(reader);
            case PinDecoder.TEMPLATE_ID -> pin(reader);
            case NoteWholeDecoder.TEMPLATE_ID -> noteWhole(reader);
            case ErrorsDecoder.TEMPLATE_ID -> new Request.Errors();
            case LoadsDecoder.TEMPLATE_ID -> new Request.Loads();
            case NewFilesDecoder.TEMPLATE_ID -> NewFilesCodec.decode(reader);
            case MakeRoomDecoder.TEMPLATE_ID -> makeRoom(reader);
            case CreateRegionDecoder.TEMPLATE_ID -> RegionCodec.create(reader);
            case ListRegionsDecoder.TEMPLATE_ID -> RegionCodec.list(reader);
            case RemoveRegionDecoder.TEMPLATE_ID -> RegionCodec.remove(reader);
            default -> throw reader.malformed("request", reader.templateId());
        };
    }

    private int encodeBody(Request request) {
        if (request instanceof Request.Hello hello) {
            return encodeHello(hello);
        } else if (request instanceof LoadRequest load) {
            return encodeLoad(load);
        } else if (request instanceof PublishRequest publish) {
            return encodePublish(publish);
        } else if (request instanceof NewFilesRequest files) {
            return encodeFiles(files);
        } else if (request instanceof RegionRequest region) {
            return RegionCodec.encode(region, writer);
        } else if (request instanceof Request.Create create) {
            return encodeCreate(create);
        } else if (request instanceof Request.MakeRoom room) {
            return encodeRoom(room);
        } else if (request instanceof Request.Wait wait) {
            WaitEncoder encoder = new WaitEncoder().wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header());
            return encoder.timeoutMs(wait.timeout().toMillis())
                    .evenIfUnknown(flag(wait.evenIfUnknown()))
                    .name(name(wait.name()))
                    .limit();
        } else if (request instanceof Request.ListArrays list) {
            ListEncoder encoder = new ListEncoder().wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header());
            return encoder.includeRetired(flag(list.includeRetired()))
                    .prefix(name(list.prefix()))
                    .limit();
        } else if (request instanceof Request.Info info) {
            InfoEncoder encoder = new InfoEncoder().wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header());
            return encoder.name(name(info.name())).limit();
        } else if (request instanceof Request.Evict evict) {
            EvictEncoder encoder = new EvictEncoder().wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header());
            return encoder.forget(flag(evict.forget())).name(name(evict.name())).limit();
        } else if (request instanceof Request.Pin pin) {
            return encodePin(pin);
        } else if (request instanceof Request.NoteWhole note) {
            return encodeNote(note);
        } else if (request instanceof Request.Loads) {
            return new LoadsEncoder()
                    .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                    .limit();
        } else if (request instanceof Request.Errors) {
            return new ErrorsEncoder()
                    .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                    .limit();
        } else if (request instanceof Request.Verify verify) {
            VerifyEncoder encoder = new VerifyEncoder().wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header());
            return encoder.againstSources(flag(verify.againstSources()))
                    .name(name(verify.name()))
                    .limit();
        } else if (request instanceof Request.Reload reload) {
            ReloadEncoder encoder = new ReloadEncoder().wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header());
            return encoder.name(name(reload.name())).limit();
        } else if (request instanceof Request.Stop stop) {
            StopEncoder encoder = new StopEncoder().wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header());
            return encoder.keep(flag(stop.keep())).limit();
        }
        return new StatusEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .limit();
    }

    private int encodeCreate(Request.Create create) {
        CreateEncoder encoder = new CreateEncoder().wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header());
        return encoder.timeoutMs(create.timeout().toMillis())
                .bytes(create.bytes())
                .evenIfResident(flag(create.evenIfResident()))
                .pinned(flag(create.retention().pinned()))
                .ttlMs(create.retention().ttl().toMillis())
                .name(name(create.name()))
                .limit();
    }

    private int encodePin(Request.Pin pin) {
        PinEncoder encoder = new PinEncoder().wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header());
        return encoder.pinned(flag(pin.pinned())).name(name(pin.name())).limit();
    }

    private int encodeNote(Request.NoteWhole note) {
        return new NoteWholeEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .name(name(note.name()))
                .digest(whole("digest", note.digest(), SHORT))
                .of(whole("of", note.of(), SHORT))
                .limit();
    }

    private int encodeRoom(Request.MakeRoom room) {
        return new MakeRoomEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .token(room.token())
                .bytes(room.bytes())
                .limit();
    }

    private int encodeFiles(NewFilesRequest request) {
        requireFew("files", request.files().size());
        return NewFilesCodec.encode(request, writer);
    }

    private int encodeHello(Request.Hello hello) {
        return new HelloEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .protocolMajor(hello.protocolMajor())
                .protocolMinor(hello.protocolMinor())
                .pid(hello.pid())
                .clientVersion(whole("clientVersion", hello.clientVersion(), ShortTextDecoder.lengthMaxValue()))
                .limit();
    }

    private int encodeLoad(LoadRequest load) {
        LoadOptions options = load.options();
        requireFew("sources and keys", load.sources().size() + options.keys().size());
        LoadEncoder encoder = new LoadEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .workers(load.workers())
                .loadAs(AsCode.valueOf(options.as().name()))
                .strict(flag(options.strict()))
                .inPlace(flag(options.inPlace()))
                .evenIfUnchanged(flag(options.evenIfUnchanged()))
                .packBelowBytes(options.packBelowBytes())
                .pinned(flag(load.retention().pinned()))
                .registerOnly(flag(load.registerOnly()))
                .ttlMs(load.retention().ttl().toMillis());
        LoadEncoder.SourcesEncoder sources = encoder.sourcesCount(load.sources().size());
        for (LoadRequest.Source source : load.sources()) {
            sources.next()
                    .name(name(source.name()))
                    .path(whole("path", source.path(), PathTextDecoder.lengthMaxValue()));
        }
        LoadEncoder.KeysEncoder keys = encoder.keysCount(options.keys().size());
        options.keys().forEach(key -> keys.next().key(name(key)));
        return encoder.dtype(whole("dtype", options.dtype(), LongTextDecoder.lengthMaxValue()))
                .shape(whole("shape", options.shape(), NAME))
                .exclude(whole("exclude", String.join("\n", options.exclude()), LongTextDecoder.lengthMaxValue()))
                .shard(options.shard() == null ? "" : options.shard().text())
                .limit();
    }

    private int encodePublish(PublishRequest publish) {
        requireFew("arrays", publish.parts().size());
        PublishEncoder encoder = new PublishEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .token(publish.token());
        PublishEncoder.PartsEncoder parts = encoder.partsCount(publish.parts().size());
        publish.parts().forEach((array, part) -> parts.next().part(part.code()).array(name(array)));
        return encoder.limit();
    }

    private static Request create(MessageReader reader) {
        CreateDecoder decoder = new CreateDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(CreateDecoder.BLOCK_LENGTH), reader.version());
        if (decoder.timeoutMs() < 0) {
            throw reader.malformed("timeoutMs", decoder.timeoutMs());
        } else if (decoder.bytes() < 0) {
            throw reader.malformed("bytes", decoder.bytes());
        }
        Duration timeout = Duration.ofMillis(decoder.timeoutMs());
        long bytes = decoder.bytes();
        boolean evenIfResident = decoder.evenIfResident() == Flag.YES;
        Retention retention = retention(reader, decoder.pinned(), decoder.ttlMs());
        String name = reader.text("name", NAME, decoder::limit, decoder::skipName);
        return new Request.Create(name, timeout, bytes, evenIfResident, retention);
    }

    private static Request makeRoom(MessageReader reader) {
        MakeRoomDecoder decoder = new MakeRoomDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(MakeRoomDecoder.BLOCK_LENGTH), reader.version());
        if (decoder.bytes() < 0) {
            throw reader.malformed("bytes", decoder.bytes());
        }
        return new Request.MakeRoom(decoder.token(), decoder.bytes());
    }

    private static Retention retention(MessageReader reader, Flag pinned, long ttlMs) {
        if (ttlMs < 0) {
            throw reader.malformed("ttlMs", ttlMs);
        }
        return new Retention(pinned == Flag.YES, Duration.ofMillis(ttlMs));
    }

    private static Request publish(MessageReader reader) {
        PublishDecoder decoder = new PublishDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(PublishDecoder.BLOCK_LENGTH), reader.version());
        long token = decoder.token();
        reader.groupHeader("parts", decoder.limit());
        PublishDecoder.PartsDecoder group = decoder.parts();
        Map<String, ColumnPart> parts = new HashMap<>();
        while (group.hasNext()) {
            reader.groupBlock("parts", decoder.limit(), Integer.BYTES, group.actingBlockLength());
            int code = group.next().part();
            ColumnPart part = ColumnPart.of(code);
            if (part == null) {
                throw reader.malformed("part", code);
            }
            parts.put(reader.text("array", NAME, decoder::limit, group::skipArray), part);
        }
        return new PublishRequest(token, parts);
    }

    private static Request hello(MessageReader reader) {
        HelloDecoder decoder = new HelloDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(HelloDecoder.BLOCK_LENGTH), reader.version());
        String version = reader.text(
                "clientVersion", ShortTextDecoder.lengthMaxValue(), decoder::limit, decoder::skipClientVersion);
        return new Request.Hello(decoder.protocolMajor(), decoder.protocolMinor(), decoder.pid(), version);
    }

    private static Request load(MessageReader reader) {
        LoadDecoder decoder = new LoadDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(LoadDecoder.BLOCK_LENGTH), reader.version());
        int workers = decoder.workers();
        if (workers > LoadRequest.MAX_WORKERS) {
            throw reader.malformed("workers", workers);
        }
        Retention retention = retention(reader, decoder.pinned(), decoder.ttlMs());
        boolean registerOnly = decoder.registerOnly() == Flag.YES;
        List<LoadRequest.Source> sources = sources(reader, decoder);
        return new LoadRequest(sources, options(reader, decoder), workers, retention, registerOnly);
    }

    private static LoadOptions options(MessageReader reader, LoadDecoder decoder) {
        LoadOptions.As as = as(reader, decoder.loadAsRaw());
        long packBelowBytes = decoder.packBelowBytes();
        if (packBelowBytes < LoadOptions.PACK_AUTO) {
            throw reader.malformed("packBelowBytes", packBelowBytes);
        }
        boolean strict = decoder.strict() == Flag.YES;
        boolean inPlace = decoder.inPlace() == Flag.YES;
        boolean evenIfUnchanged = decoder.evenIfUnchanged() == Flag.YES;
        List<String> keys = keys(reader, decoder);
        String dtype = reader.text("dtype", LongTextDecoder.lengthMaxValue(), decoder::limit, decoder::skipDtype);
        String shape = reader.text("shape", NAME, decoder::limit, decoder::skipShape);
        String exclude = reader.version() < LoadDecoder.excludeSinceVersion()
                ? "" // a client of minor 0 does not know it
                : reader.text("exclude", LongTextDecoder.lengthMaxValue(), decoder::limit, decoder::skipExclude);
        return new LoadOptions(keys, as, dtype, shape, packBelowBytes, strict, inPlace, evenIfUnchanged)
                .withExclude(exclude.isEmpty() ? List.of() : List.of(exclude.split("\n")))
                .withShard(shard(reader, decoder));
    }

    private static @Nullable ShardRows shard(MessageReader reader, LoadDecoder decoder) {
        String text = reader.version() < LoadDecoder.shardSinceVersion()
                ? ""
                : reader.text("shard", SHORT, decoder::limit, decoder::skipShard);
        try {
            return text.isEmpty() ? null : ShardRows.parse(text);
        } catch (IllegalArgumentException e) {
            throw reader.malformed("shard", text.length());
        }
    }

    private static LoadOptions.As as(MessageReader reader, int code) {
        for (LoadOptions.As as : LoadOptions.As.values()) {
            if (AsCode.valueOf(as.name()).value() == code) {
                return as;
            }
        }
        throw reader.malformed("loadAs", code);
    }

    private static List<LoadRequest.Source> sources(MessageReader reader, LoadDecoder decoder) {
        reader.groupHeader("sources", decoder.limit());
        LoadDecoder.SourcesDecoder group = decoder.sources();
        List<LoadRequest.Source> sources = new ArrayList<>();
        while (group.hasNext()) {
            reader.groupBlock("sources", decoder.limit(), 0, group.actingBlockLength());
            group.next();
            String name = reader.text("name", NAME, decoder::limit, group::skipName);
            String path = reader.text("path", PathTextDecoder.lengthMaxValue(), decoder::limit, group::skipPath);
            sources.add(new LoadRequest.Source(name, path));
        }
        return sources;
    }

    private static List<String> keys(MessageReader reader, LoadDecoder decoder) {
        reader.groupHeader("keys", decoder.limit());
        LoadDecoder.KeysDecoder group = decoder.keys();
        List<String> keys = new ArrayList<>();
        while (group.hasNext()) {
            reader.groupBlock("keys", decoder.limit(), 0, group.actingBlockLength());
            group.next();
            keys.add(reader.text("key", NAME, decoder::limit, group::skipKey));
        }
        return keys;
    }

    private static Request await(MessageReader reader) {
        WaitDecoder decoder = new WaitDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(WaitDecoder.BLOCK_LENGTH), reader.version());
        long timeoutMs = decoder.timeoutMs();
        if (timeoutMs < 0) {
            throw reader.malformed("timeoutMs", timeoutMs);
        }
        boolean evenIfUnknown = decoder.evenIfUnknown() == Flag.YES;
        String name = reader.text("name", NAME, decoder::limit, decoder::skipName);
        return new Request.Wait(name, Duration.ofMillis(timeoutMs), evenIfUnknown);
    }

    private static Request list(MessageReader reader) {
        ListDecoder decoder = new ListDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(ListDecoder.BLOCK_LENGTH), reader.version());
        boolean includeRetired = decoder.includeRetired() == Flag.YES;
        return new Request.ListArrays(reader.text("prefix", NAME, decoder::limit, decoder::skipPrefix), includeRetired);
    }

    private static Request info(MessageReader reader) {
        InfoDecoder decoder = new InfoDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(InfoDecoder.BLOCK_LENGTH), reader.version());
        return new Request.Info(reader.text("name", NAME, decoder::limit, decoder::skipName));
    }

    private static Request evict(MessageReader reader) {
        EvictDecoder decoder = new EvictDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(EvictDecoder.BLOCK_LENGTH), reader.version());
        boolean forget = decoder.forget() == Flag.YES;
        return new Request.Evict(reader.text("name", NAME, decoder::limit, decoder::skipName), forget);
    }

    private static Request noteWhole(MessageReader reader) {
        NoteWholeDecoder decoder = new NoteWholeDecoder();
        decoder.wrap(
                reader.buffer(), MessageReader.BODY, reader.block(NoteWholeDecoder.BLOCK_LENGTH), reader.version());
        String name = reader.text("name", NAME, decoder::limit, decoder::skipName);
        String digest = reader.text("digest", SHORT, decoder::limit, decoder::skipDigest);
        return new Request.NoteWhole(name, digest, reader.text("of", SHORT, decoder::limit, decoder::skipOf));
    }

    private static Request pin(MessageReader reader) {
        PinDecoder decoder = new PinDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(PinDecoder.BLOCK_LENGTH), reader.version());
        boolean pinned = decoder.pinned() == Flag.YES;
        return new Request.Pin(reader.text("name", NAME, decoder::limit, decoder::skipName), pinned);
    }

    private static Request verify(MessageReader reader) {
        VerifyDecoder decoder = new VerifyDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(VerifyDecoder.BLOCK_LENGTH), reader.version());
        boolean againstSources = decoder.againstSources() == Flag.YES;
        return new Request.Verify(reader.text("name", NAME, decoder::limit, decoder::skipName), againstSources);
    }

    private static Request reload(MessageReader reader) {
        ReloadDecoder decoder = new ReloadDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(ReloadDecoder.BLOCK_LENGTH), reader.version());
        return new Request.Reload(reader.text("name", NAME, decoder::limit, decoder::skipName));
    }

    private static Request stop(MessageReader reader) {
        StopDecoder decoder = new StopDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(StopDecoder.BLOCK_LENGTH), reader.version());
        return new Request.Stop(decoder.keep() == Flag.YES);
    }

    private static void requireFew(String what, int count) {
        if (count > MAX_ELEMENTS) {
            throw Failure.of(ErrorCode.USAGE, "too many " + what + " in one request")
                    .with("count", count)
                    .with("limit", MAX_ELEMENTS)
                    .remedy("name a folder instead of its files, or ask in several requests");
        }
    }

    private static String name(String text) {
        return whole("name", text, NAME);
    }

    private static Flag flag(boolean value) {
        return value ? Flag.YES : Flag.NO;
    }
}
