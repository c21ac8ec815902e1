package dev.larder.testing;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.NewFilesRequest;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.PublishRequest;
import dev.larder.internal.protocol.RegionRequest;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.RequestCodec;
import dev.larder.internal.protocol.Response;
import dev.larder.internal.protocol.ResponseCodec;
import dev.larder.internal.protocol.Retention;
import dev.larder.internal.protocol.Welcome;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Valid messages of every kind, for those that spoil them. */
public final class ProtocolSamples {
    private static final Duration WAIT = Duration.ofMillis(20);

    private ProtocolSamples() {}

    /** Returns the first message of a connection. */
    public static Request hello() {
        return new Request.Hello(Protocol.MAJOR, Protocol.MINOR, 1, "fuzz");
    }

    /** Returns requests of every kind; those that load take the file. */
    public static List<Request> requests(Path source) {
        LoadRequest.Source named = new LoadRequest.Source("fuzz", source.toString());
        LoadRequest plain = new LoadRequest(List.of(named), List.of(), 0);
        return List.of(
                hello(),
                plain,
                new LoadRequest(
                        List.of(named, new LoadRequest.Source("fuzz-2", source + ".absent")),
                        new LoadOptions(
                                List.of("a*", "b"), LoadOptions.As.RAGGED, "<f4", "-1,2", 100, true, true, true),
                        2),
                plain.withRegisterOnly(true).withRetention(new Retention(true, Duration.ofSeconds(1))),
                new PublishRequest(
                        1, Map.of("a/values", ColumnPart.RAGGED_VALUES, "a/offsets", ColumnPart.RAGGED_OFFSETS)),
                new NewFilesRequest(1, List.of(new NewFilesRequest.NewFile("a/values", 8192, "/source"))),
                new Request.MakeRoom(1, 8192),
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
                new RegionRequest.Create("fuzz", "fuzz", 4096, false),
                new RegionRequest.Create("fuzz-sealed", "fuzz", 4096, true),
                new RegionRequest.ListAll(""),
                new RegionRequest.Remove("fuzz", 0));
    }

    /** Returns responses of every kind. */
    public static List<Response> responses() {
        return List.of(
                new Welcome(Protocol.MAJOR, Protocol.MINOR, 1, 42, WAIT, "1.0"),
                new Progress(Progress.Phase.LOADING, "fuzz", 1, 2, 3, 4, "half"),
                new ArrayRow(
                        "fuzz/x",
                        "<f4",
                        List.of(3L, 4L),
                        'C',
                        48,
                        1,
                        "00ff",
                        ArrayRow.State.RESIDENT,
                        true,
                        2,
                        "/x.npy",
                        4096,
                        "0123abcd",
                        "/source",
                        ColumnPart.NONE),
                new DaemonStatus(
                        "/store", 42, "1.0", 1, 2, 3, 4, 5, 6, 7, "never", 10, 11, WAIT, "http://127.0.0.1:1/"),
                new ErrorRow(3, Instant.EPOCH, Instant.EPOCH, "what failed", "where"),
                new RegionRow("fuzz", "fuzz", 4096, 5, Optional.empty(), 7, Instant.EPOCH),
                new Build(7, "/folder"),
                new Done(1, 2, 3, "42", "done"),
                new Problem(6, "bad input", "where"));
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

    /** Encodes requests, each a frame with its length. */
    public static List<byte[]> encode(List<Request> requests) {
        RequestCodec codec = new RequestCodec();
        return requests.stream().map(request -> bytes(codec.encode(request))).toList();
    }

    /** Encodes responses, each a frame with its length. */
    public static List<byte[]> encodeResponses(List<Response> responses) {
        ResponseCodec codec = new ResponseCodec();
        return responses.stream().map(response -> bytes(codec.encode(response))).toList();
    }

    private static byte[] bytes(ByteBuffer frame) {
        byte[] bytes = new byte[frame.remaining()];
        frame.get(bytes);
        return bytes;
    }
}
