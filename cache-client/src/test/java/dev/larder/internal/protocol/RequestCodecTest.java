package dev.larder.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.ShardRows;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RequestCodecTest {
    private final RequestCodec codec = new RequestCodec();

    static Stream<Request> requests() {
        return Stream.of(
                new Request.Hello(1, 0, 4711, "0.1"),
                new LoadRequest(List.of(), List.of(), 0),
                new LoadRequest(
                        List.of(
                                new LoadRequest.Source("mnist", "/data/mnist"),
                                new LoadRequest.Source("größe-数", "/with = and space")),
                        List.of("train-images", "test"),
                        LoadRequest.MAX_WORKERS),
                new LoadRequest(
                        List.of(new LoadRequest.Source("raw", "/data/raw.bin")),
                        new LoadOptions(
                                List.of("k"), LoadOptions.As.BYTES, "[('größe','<f4')]", "-1,28", 5, true, true, true),
                        1),
                new Request.Create("scan", Duration.ofMinutes(10), 1L << 40, true),
                new PublishRequest(-7, Map.of()),
                new PublishRequest(1L << 60, Map.of("scene/slots", ColumnPart.INDEX_SLOTS, "x", ColumnPart.NONE)),
                new Request.Wait("mnist/train-images", Duration.ofMillis(1234)),
                new Request.Wait("mnist", Duration.ZERO, true),
                new Request.ListArrays("", false),
                new Request.ListArrays("mn", true),
                new Request.Info("mnist"),
                new Request.Evict("a".repeat(1024), false),
                new Request.Evict("a", true),
                new Request.NoteWhole("d", "a".repeat(64), "b".repeat(64)),
                new LoadRequest(List.of(), LoadOptions.none().withShard(new ShardRows(2, 3)), 0),
                new Request.Pin("d", true),
                new Request.Pin("d", false),
                new Request.Errors(),
                new Request.Loads(),
                new RegionRequest.Create("weights", "shared-array", 1L << 40, true),
                new RegionRequest.ListAll(""),
                new RegionRequest.Remove("weights", 4096),
                new NewFilesRequest(3, List.of()),
                new NewFilesRequest(
                        1L << 60,
                        List.of(
                                new NewFilesRequest.NewFile("scene/x", 1L << 40, "/data/x.npy"),
                                new NewFilesRequest.NewFile("y", 0, ""))),
                new LoadRequest(
                        List.of(new LoadRequest.Source("d", "/d")),
                        LoadOptions.none(),
                        0,
                        new Retention(true, Duration.ofHours(2)),
                        true),
                new Request.Create("d", Duration.ZERO, 0, false, new Retention(false, Duration.ofDays(9))),
                new Request.Verify("", false),
                new Request.Verify("d/a", true),
                new Request.Reload("d"),
                new Request.Status(),
                new Request.Stop(true),
                new Request.Stop(false));
    }

    @ParameterizedTest
    @MethodSource("requests")
    void everyRequestComesBackAsItWas(Request request) {
        assertThat(codec.decode(body(codec.encode(request)))).isEqualTo(request);
    }

    @ParameterizedTest
    @MethodSource("requests")
    void aRequestCutShortAnywhereIsRefused(Request request) {
        byte[] whole = bytes(body(codec.encode(request)));

        for (int length = 0; length < whole.length; length++) {
            ByteBuffer cut = ByteBuffer.wrap(whole, 0, length).slice().order(ByteOrder.LITTLE_ENDIAN);
            assertThatThrownBy(() -> codec.decode(cut)).isInstanceOf(LarderException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("requests")
    void flippedBitsNeverDoWorseThanARefusal(Request request) {
        byte[] whole = bytes(body(codec.encode(request)));
        Random random = new Random(42);

        for (int round = 0; round < 2_000; round++) {
            byte[] damaged = whole.clone();
            for (int flips = random.nextInt(8); flips >= 0; flips--) {
                damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            }
            decodeOrRefuse(damaged);
        }
    }

    @Test
    void aTextBeyondItsLimitIsRefusedBeforeItIsSent() {
        Request tooLong = new Request.Info("ä".repeat(513));

        assertThatThrownBy(() -> codec.encode(tooLong))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.USAGE))
                .hasMessageContaining("bytes=1026")
                .hasMessageContaining("limit=1024");
    }

    @Test
    void aTextBeyondItsLimitIsRefusedByTheReceiverToo() {
        byte[] message = bytes(body(codec.encode(new Request.Info("a".repeat(1024)))));
        byte[] longer = new byte[message.length + 1];
        System.arraycopy(message, 0, longer, 0, message.length);
        ByteBuffer.wrap(longer).order(ByteOrder.LITTLE_ENDIAN).putShort(MessageReader.BODY, (short) 1025);

        assertThatThrownBy(() -> codec.decode(ByteBuffer.wrap(longer).order(ByteOrder.LITTLE_ENDIAN)))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("part=name value=1025");
    }

    @Test
    void textThatIsNotUtf8IsRefused() {
        byte[] message = bytes(body(codec.encode(new Request.Info("abc"))));
        message[message.length - 1] = (byte) 0xC3;

        assertThatThrownBy(() -> codec.decode(ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN)))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("not UTF-8");
    }

    @Test
    void moreSourcesThanARequestHoldsAreRefusedWithTheRemedy() {
        LoadRequest.Source source = new LoadRequest.Source("n", "/a-path-that-is-not-too-short" + "/deeper".repeat(20));

        for (int count : new int[] {30_000, 60_000, 70_000}) {
            LoadRequest request = new LoadRequest(Collections.nCopies(count, source), List.of(), 0);
            assertThatThrownBy(() -> codec.encode(request))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining(";");
        }
    }

    private void decodeOrRefuse(byte[] message) {
        try {
            codec.decode(ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN));
        } catch (LarderException refused) {
            assertThat(refused.code()).isEqualTo(ErrorCode.BAD_INPUT);
        }
    }

    static ByteBuffer body(ByteBuffer frame) {
        assertThat(frame.order(ByteOrder.LITTLE_ENDIAN).getInt(0)).isEqualTo(frame.remaining() - 4);
        return frame.slice(4, frame.remaining() - 4).order(ByteOrder.LITTLE_ENDIAN);
    }

    static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    @Test
    void theWireStaysWhatItIs() {
        byte[] frame = bytes(codec.encode(new Request.Info("mnist")));

        assertThat(frame).startsWith(15, 0, 0, 0, 0, 0, 13, 0, 0x1a, 0x07, 3, 0, 5, 0);
        assertThat(new String(frame, 14, 5, StandardCharsets.UTF_8)).isEqualTo("mnist");
        assertThat(frame).hasSize(19);
    }
}
