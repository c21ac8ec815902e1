package dev.larder.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.ShardRows;
import dev.larder.message.BadMessage;
import dev.larder.message.Call;
import dev.larder.message.Messages;
import dev.larder.message.MethodReply;
import dev.larder.testing.ProtocolSamples;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ProtocolTest {
    static Stream<Request> requests() {
        return Stream.concat(
                ProtocolSamples.requests(Path.of("/data/größe 数.npy")).stream(),
                Stream.of(
                        new LoadRequest(
                                List.of(), LoadOptions.none().withShard(new ShardRows(2, 3)), LoadRequest.MAX_WORKERS),
                        new LoadRequest(List.of(), LoadOptions.none().withExclude(List.of("*.tmp")), 0),
                        new Request.Create("d", Duration.ZERO, 1L << 40, true, new Retention(true, Duration.ofDays(9))),
                        new RegionRequest.Remove("weights", 4096)));
    }

    static Stream<Response> responses() {
        return ProtocolSamples.responses().stream();
    }

    private static ByteBuffer body(byte[] message) {
        assertThat(message[message.length - 1]).isZero();
        return ByteBuffer.wrap(message, 0, message.length - 1).slice();
    }

    @ParameterizedTest
    @MethodSource("requests")
    void everyRequestComesBackAsItWas(Request request) {
        assertThat(ProtocolSamples.decodeRequest(ProtocolSamples.encode(request)))
                .isEqualTo(request);
    }

    @ParameterizedTest
    @MethodSource("responses")
    void everyResponseComesBackAsItWas(Response response) {
        Answers.Received received = Answers.decode(body(ProtocolSamples.encode(response)));

        assertThat(received.response()).isEqualTo(response);
        assertThat(received.continues()).isEqualTo(response instanceof Progress);
    }

    @ParameterizedTest
    @MethodSource("requests")
    void aRequestCutShortAnywhereIsRefused(Request request) {
        byte[] whole = ProtocolSamples.encode(request);

        for (int length = 0; length < whole.length - 1; length++) {
            ByteBuffer cut = ByteBuffer.wrap(whole, 0, length).slice();
            assertThatThrownBy(() -> Call.decode(cut, Protocol.METHODS))
                    .isInstanceOfAny(BadMessage.class, Call.Refused.class);
        }
    }

    @ParameterizedTest
    @MethodSource("requests")
    void flippedBitsNeverDoWorseThanARefusal(Request request) {
        byte[] whole = ProtocolSamples.encode(request);
        Random random = new Random(42);

        for (int round = 0; round < 2_000; round++) {
            byte[] damaged = Arrays.copyOf(whole, whole.length - 1);
            for (int flips = random.nextInt(8); flips >= 0; flips--) {
                damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            }
            try {
                assertThat(Call.decode(ByteBuffer.wrap(damaged), Protocol.METHODS)
                                .parameters())
                        .isInstanceOf(Request.class);
            } catch (BadMessage | Call.Refused refused) {
                assertThat(refused).isNotNull();
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "Info | {\"name\":\"a\",\"nam\":\"b\"} | nam: no such field",
                "Info | {} | name: it is missing",
                "Info | {\"name\":null} | name: it should be a text, and is null",
                "Info | {\"name\":\"a\",\"name\":\"b\"} | name: it is there twice",
                "Info | {\"name\":1} | name: it should be a text, and is a number",
                "Info | {\"name\":[]} | name: it should be a text, and is a list",
                "Info | [] | it should be an object, and is a list",
                "Info | {\"name\":\"\\ud83d\"} | Unpaired surrogate characters are not allowed in strict mode",
                "Info | {\"na\\ud83d\":\"a\"} | Unpaired surrogate characters are not allowed in strict mode",
                "Room | {\"bytes\":1.0} | bytes: it is no 64-bit integer: 1.0",
                "Room | {\"bytes\":1e3} | bytes: it is no 64-bit integer: 1e3",
                "Room | {\"bytes\":9223372036854775808} | bytes: it is no 64-bit integer: 9223372036854775808",
                "Room | {\"bytes\":\"1\"} | bytes: it should be an integer, and is a text",
                "Pin | {\"name\":\"a\",\"pinned\":1} | pinned: it should be true or false, and is a number",
                "Load | {\"sources\":[{\"name\":\"a\"}]} | sources[0].path: it is missing",
                "Load | {\"sources\":[],\"options\":{\"as\":\"tables\"}} | options.as: it should be one of",
                "Load | {\"sources\":[],\"options\":{\"shard\":{\"index\":3,\"count\":3}}} | options.shard: shard=3/3",
                "Load | {\"sources\":[],\"workers\":-1} | workers is not from 0 to",
                "Room | {\"bytes\":-1} | bytes is negative: -1",
                "Create | {\"name\":\"a\",\"timeoutMs\":1,\"bytes\":-1} | bytes is negative: -1",
                "Create | {\"name\":\"a\",\"timeoutMs\":-1} | timeoutMs: it is not from 0 to",
                "Files | {\"files\":[{\"array\":\"a\",\"bytes\":-5}]} | files[0]: bytes is negative: -5",
                "Load | {\"sources\":[],\"options\":{\"shard\":{\"index\":0,\"count\":1000000}}} | options.shard: shard=0/1000000",
                "CreateRegion | {\"name\":\"a\",\"kind\":\"A\",\"bytes\":1} | kind is not 1 to 31 of",
            })
    void aParameterThatIsWrongIsRefusedByName(String method, String parameters, String reason) {
        ByteBuffer call = text("{\"method\":\"dev.larder.Store." + method + "\",\"parameters\":" + parameters + "}");

        assertThatThrownBy(() -> Call.decode(call, Protocol.METHODS))
                .satisfies(refused -> assertThat(
                                refused instanceof Call.Refused known
                                        ? String.valueOf(known.parameter())
                                        : refused.toString())
                        .contains(reason));
    }

    private static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void theWireStaysAsItIs() {
        assertThat(ProtocolSamples.encode(new Request.Wait("mnist", Duration.ofSeconds(2))))
                .asString(StandardCharsets.UTF_8)
                .isEqualTo(
                        "{\"method\":\"dev.larder.Store.Wait\",\"parameters\":{\"name\":\"mnist\",\"timeoutMs\":2000},"
                                + "\"more\":true}\0");
        assertThat(Answers.encodeOne(Done.of(1, 2, "ok")))
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("{\"parameters\":{\"done\":{\"files\":1,\"bytes\":2,\"heldBytes\":0,\"holders\":\"\","
                        + "\"message\":\"ok\"}}}\0");
    }

    @Test
    void anErrorHasItsNameItsCodeAndItsParts() {
        LarderException failure = Failure.of(ErrorCode.NO_SPACE, "not enough space")
                .with("needed", 12)
                .with("free", 3)
                .remedy("larder evict NAME");

        Answers.Received received = Answers.decode(body(Answers.encodeOne(Problem.of(failure))));

        assertThat(received.response()).isInstanceOfSatisfying(Problem.class, problem -> {
            assertThat(problem.error()).isEqualTo("dev.larder.Store.NoSpace");
            assertThat(problem.values())
                    .containsExactly(java.util.Map.entry("needed", "12"), java.util.Map.entry("free", "3"));
            assertThat(problem.exception()).hasMessage("not enough space: needed=12 free=3; larder evict NAME");
            assertThat(problem.exception().code()).isEqualTo(ErrorCode.NO_SPACE);
        });
    }

    @Test
    void anErrorTooLongForAMessageLosesItsDetails() {
        LarderException failure = Failure.of(ErrorCode.BAD_INPUT, "what")
                .with("path", "\u0001".repeat(1 << 20))
                .with("other", "\u0001".repeat(1 << 20))
                .cause(new IllegalStateException("\u0001".repeat(1 << 20)))
                .remedy("\u0001".repeat(1 << 20));

        assertThat(Answers.encodeOne(Problem.of(failure))).hasSizeLessThanOrEqualTo(Messages.MAX_BYTES + 1);
    }

    @Test
    void aLaterDaemonMayHaveMoreToSay() {
        ArrayRow row = ProtocolSamples.row(List.of(1L), ArrayRow.State.RESIDENT);
        String now = new String(Answers.encodeOne(new Response.ArrayRows(List.of(row))), StandardCharsets.UTF_8);
        String later = now.replace("\"strings_offsets\"", "\"cubes_faces\"")
                .replace("\"resident\"", "\"frozen\",\"colour\":{\"x\":[1.5]}")
                .replace("}]}}\0", "}],\"new\":1},\"continues\":true,\"other\":{}}");

        Answers.Received received = Answers.decode(text(later));

        assertThat(received.continues()).isTrue();
        assertThat(received.response())
                .isInstanceOfSatisfying(
                        Response.ArrayRows.class,
                        rows -> assertThat(rows.arrays().get(0).state()).isEqualTo(ArrayRow.State.OTHER));
    }

    @Test
    void textsThatAreTooLongAreCutAndNoneMakesAnAnswerFail() {
        String wide = "\u2028".repeat(1 << 20); // six characters of JSON each
        ArrayRow row = ProtocolSamples.row(List.of(1L), ArrayRow.State.RESIDENT);
        ArrayRow long1 = new ArrayRow(
                row.name(),
                row.dtype(),
                row.shape(),
                'C',
                1,
                1,
                row.digest(),
                row.state(),
                false,
                0,
                row.path(),
                0,
                "",
                wide,
                row.part());
        Progress progress = Progress.of(Progress.Phase.LOADING, wide, wide);

        for (Response response : List.of(
                new Response.ArrayRows(Collections.nCopies(100, long1)),
                new Response.LoadRows(Collections.nCopies(100, progress)),
                new Response.ErrorRows(
                        Collections.nCopies(10, new ErrorRow(1, Instant.EPOCH, Instant.EPOCH, wide, wide))),
                new Done(1, 1, 1, wide, wide))) {
            Answers.encode(response)
                    .forEachRemaining(
                            message -> assertThat(message.length).isLessThanOrEqualTo(Messages.MAX_BYTES + 1));
        }
        assertThat(Answers.encodeProgress(progress).length).isLessThanOrEqualTo(Messages.MAX_BYTES + 1);
    }

    @Test
    void namesLongerThanAnyArrayHasAreRefused() {
        for (ThrowingCallable record : List.<ThrowingCallable>of(
                () -> new Request.PartOfColumn("x".repeat(1025), ColumnPart.NONE),
                () -> new Request.NewFile("x".repeat(1025), 1, ""),
                () -> new Request.NewFile("x", 1, "y".repeat(4097)),
                () -> new Request.NoteWhole("x", "y".repeat(129), ""))) {
            assertThatThrownBy(record).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void rowsComeInAsManyMessagesAsTheyNeed() {
        ArrayRow row = ProtocolSamples.row(List.of(1L), ArrayRow.State.RESIDENT);
        List<ArrayRow> rows = new ArrayList<>(Collections.nCopies(3_000, row));
        List<ArrayRow> received = new ArrayList<>();
        List<Boolean> continues = new ArrayList<>();

        Iterator<byte[]> messages = Answers.encode(new Response.ArrayRows(rows));
        while (messages.hasNext()) {
            Answers.Received one = Answers.decode(body(messages.next()));
            received.addAll(((Response.ArrayRows) one.response()).arrays());
            continues.add(one.continues());
        }

        assertThat(received).isEqualTo(rows);
        assertThat(continues).hasSizeGreaterThan(1).last().isEqualTo(false);
        assertThat(continues.subList(0, continues.size() - 1)).containsOnly(true);
    }

    @Test
    void noRowsAreOneMessage() {
        Iterator<byte[]> messages = Answers.encode(new Response.ArrayRows(List.of()));

        assertThat(Answers.decode(body(messages.next())))
                .isEqualTo(new Answers.Received(new Response.ArrayRows(List.of()), false));
        assertThat(messages).isExhausted();
    }

    @Test
    void anErrorOfAnyServiceIsUnderstood() {
        byte[] message = Messages.encode(new MethodReply("org.varlink.service.MethodNotImplemented", null, false));

        assertThat(((Problem) Answers.decode(body(message)).response()).exception())
                .hasMessageContaining("error=org.varlink.service.MethodNotImplemented");
    }
}
