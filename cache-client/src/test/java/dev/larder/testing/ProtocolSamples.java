package dev.larder.testing;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.Answers;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.RegionRequest;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response;
import dev.larder.internal.protocol.Retention;
import dev.larder.message.Call;
import dev.larder.message.Messages;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Valid messages of every kind, for those that spoil them. */
public final class ProtocolSamples {
    private static final Duration WAIT = Duration.ofMillis(20);

    private ProtocolSamples() {}

    /** Returns requests of every kind; those that load take the file. */
    public static List<Request> requests(Path source) {
        LoadRequest.Source named = new LoadRequest.Source("fuzz", source.toString());
        LoadRequest plain = new LoadRequest(List.of(named), List.of(), 0);
        return List.of(
                new Request.GetInfo(),
                new Request.GetInterfaceDescription(Protocol.INTERFACE),
                new Request.Sources(List.of(named)),
                plain,
                new LoadRequest(
                        List.of(named, new LoadRequest.Source("fuzz-2", source + ".absent")),
                        new LoadOptions(
                                List.of("a*", "b"), LoadOptions.As.RAGGED, "<f4", "-1,2", 100, true, true, true),
                        2),
                plain.withRegisterOnly(true).withRetention(new Retention(true, Duration.ofSeconds(1))),
                new Request.Publish(),
                new Request.Part(List.of(
                        new Request.PartOfColumn("a/values", ColumnPart.RAGGED_VALUES),
                        new Request.PartOfColumn("a/offsets", ColumnPart.RAGGED_OFFSETS))),
                new Request.Files(List.of(new Request.NewFile("a/values", 8192, "/source"))),
                new Request.Room(8192),
                new Request.Create("fuzz-built", WAIT, 4096, true),
                new Request.Create("fuzz", WAIT, 0, false, new Retention(false, Duration.ofSeconds(2))),
                new Request.Wait("fuzz/x", WAIT),
                new Request.Wait("fuzz-unknown", WAIT, true),
                new Request.ListArrays("f", true),
                new Request.Info("fuzz"),
                new Request.Evict("fuzz", false),
                new Request.Verify("fuzz", true),
                new Request.Status(),
                new Request.Stop(true),
                new Request.Reload("fuzz"),
                new Request.Pin("fuzz", true),
                new Request.NoteWhole("fuzz", "ab", "cd"),
                new Request.Errors(),
                new Request.Loads(),
                new RegionRequest.Create("fuzz", "fuzz", 4096),
                new RegionRequest.ListAll(""),
                new RegionRequest.Remove("fuzz", 0));
    }

    /** Returns responses of every kind. */
    public static List<Response> responses() {
        return List.of(
                new Response.ServiceInfo("Larder", "daemon", "1.0", "", List.of(Protocol.INTERFACE), 4, 1, 42),
                new Response.InterfaceDescription("interface x"),
                new Progress(Progress.Phase.LOADING, "fuzz", 1, 2, 3, 4, "half"),
                new Response.ArrayRows(List.of(row(List.of(3L, 4L), ArrayRow.State.RESIDENT))),
                new Response.LoadRows(List.of(Progress.of(Progress.Phase.WAITING, "a", "b"))),
                new DaemonStatus(
                        "/store",
                        42,
                        "1.0",
                        1,
                        2,
                        3,
                        4,
                        5,
                        12,
                        6,
                        7,
                        "never",
                        10,
                        11,
                        "interleave:0-1",
                        WAIT,
                        "http://127.0.0.1:1/"),
                new Response.ErrorRows(List.of(new ErrorRow(3, Instant.EPOCH, Instant.EPOCH, "what failed", "where"))),
                new Response.RegionRows(List.of(new RegionRow("fuzz", "fuzz", 4096, 5, "", 7, Instant.EPOCH))),
                new Build("/folder", "interleave:0-1"),
                new Done(1, 2, 3, "42", "done"),
                new Problem("dev.larder.Store.BadInput", 6, "bad input", Map.of("x", "1"), "do this", "where"));
    }

    /** Returns what is known of an array of this shape. */
    public static ArrayRow row(List<Long> shape, ArrayRow.State state) {
        return new ArrayRow(
                "mnist/train-images",
                "<f4",
                shape,
                'F',
                1L << 33,
                3,
                "ab".repeat(32),
                state,
                true,
                2,
                "/s/data/mnist/3/train-images.npy",
                4096,
                "0badcafe",
                "/data/train-images.npy",
                ColumnPart.STRINGS_OFFSETS);
    }

    /** Encodes requests as calls, each a message with its NUL byte. */
    public static List<byte[]> encode(List<Request> requests) {
        return requests.stream().map(ProtocolSamples::encode).toList();
    }

    /** Encodes a request as a call, a message with its NUL byte. */
    public static byte[] encode(Request request) {
        return Messages.encode(new Call(Protocol.method(request), request, true, false, false));
    }

    /** Encodes responses, each a message with its NUL byte. */
    public static List<byte[]> encodeResponses(List<Response> responses) {
        return responses.stream().map(ProtocolSamples::encode).toList();
    }

    /** Encodes a response, a message with its NUL byte. */
    public static byte[] encode(Response response) {
        return response instanceof Progress progress ? Answers.encodeProgress(progress) : Answers.encodeOne(response);
    }

    /** Reads a call, which has its NUL byte. */
    public static Request decodeRequest(byte[] message) {
        return (Request) Objects.requireNonNull(
                Call.decode(ByteBuffer.wrap(message, 0, message.length - 1).slice(), Protocol.METHODS)
                        .parameters());
    }
}
