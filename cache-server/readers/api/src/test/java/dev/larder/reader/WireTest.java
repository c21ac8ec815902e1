package dev.larder.reader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.larder.message.MessageReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class WireTest {
    private static final int MANY = 20_000;

    private static Requests requests(Stream<byte[]> messages) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        messages.forEach(bytes::writeBytes);
        return new Requests(new ByteArrayInputStream(bytes.toByteArray()));
    }

    private static Answer answer(String printed) throws IOException {
        byte[] bytes = printed.getBytes(StandardCharsets.ISO_8859_1);
        return Wire.answer(new MessageReader(), new ByteArrayInputStream(bytes));
    }

    private static Answer back(Answer answer) throws IOException {
        return Wire.answer(new MessageReader(), new ByteArrayInputStream(Wire.message(answer)));
    }

    @Test
    void listsThatAreLongerThanAMessageComeWhole() throws IOException {
        String folder = "/data/" + "long".repeat(20);
        List<InputFile> files = IntStream.range(0, MANY)
                .mapToObj(i -> new InputFile(Path.of(folder, "ä" + i), i % 2 == 0 ? "" : "x/"))
                .toList();
        List<String> columns = Collections.nCopies(1_000, "column \"of\"\n" + "a".repeat(2_000));
        ReadRequest request = new ReadRequest(files, "bytes", columns, 3);

        Requests requests = requests(Wire.start("hdf5", request));

        assertThat(requests.kind()).isEqualTo("hdf5");
        assertThat(requests.read()).isEqualTo(request);
    }

    @Test
    void aRequestForPlacesIsFollowedByTargetsAsOftenAsTheDaemonLikes() throws IOException {
        PlaceRequest request = new PlaceRequest(List.of("https://host/a?b=\u0001"), 8);
        List<Target> targets = IntStream.range(0, MANY)
                .mapToObj(i -> new Target(i, Path.of("/f" + i), i, Long.MAX_VALUE - i, i % 3))
                .toList();

        Requests requests = requests(Stream.of(Wire.start("http", request), Wire.fill(targets), Wire.fill(List.of()))
                .flatMap(messages -> messages));

        assertThat(requests.kind()).isEqualTo("http");
        assertThat(requests.places()).isEqualTo(request);
        assertThat(requests.targets()).isEqualTo(targets);
        assertThat(requests.targets()).isEmpty();
        assertThatThrownBy(requests::targets).isInstanceOf(EOFException.class);
    }

    @Test
    void answersComeBackAsTheyWere() throws IOException {
        Offer plain = Offer.array("a/ä\u0000", "<f4", List.of(0L, Long.MAX_VALUE));
        List<Answer> answers = List.of(
                new Answer.Offered(List.of(plain, plain.lyingIn(0, 0), plain.lyingIn(7, 1L << 60))),
                new Answer.Listed(List.of(
                        new Answer.ListedObject(0, "a", false, 0, 0, "", false),
                        new Answer.ListedObject(9, "b", true, Long.MAX_VALUE, -1, "\"etag\"", true))),
                new Answer.Progressed(-1),
                new Answer.Finished(),
                new Answer.Refused(0, BadSource.NOWHERE, "", "reason", "remedy"),
                new Answer.Refused(1, 0, "column", "", ""),
                new Answer.Failed("😀\n"));

        for (Answer answer : answers) {
            assertThat(back(answer)).isEqualTo(answer);
        }
    }

    @Test
    void longTextsForPeopleAreCutWhereverTheyComeFrom() throws IOException {
        String endless = "\u0001".repeat(10_000_000);

        Answer.Refused back = (Answer.Refused) back(new Answer.Refused(0, 0, endless, endless, endless));

        assertThat(back.reason()).hasSize(16 << 10).endsWith("\u0001…");
        assertThat(back(new Answer.Failed(endless))).isEqualTo(new Answer.Failed(endless));
    }

    static Stream<Arguments> brokenMessages() {
        return Stream.of(
                arguments("O\1\1\1\1", "it does not begin with {"),
                arguments("{\"failed\":{\"reason\":\"" + "a".repeat(1 << 20), "it is longer than 1048576 bytes"),
                arguments("{\"failed\":{\"reason\":\"\u00ff\"}}\0", "it is not UTF-8"),
                arguments("{\"failed\":{\"reason\":\"\\ud800\"}}\0", "it is not JSON: Unpaired surrogate"),
                arguments("{\"failed\":{\"reason\":\"\"},\"finished\":{}}\0", "failed: it has a second member"),
                arguments("{\"finished\":{\"soon\":true}}\0", "finished.soon: no such field"),
                arguments("{\"granted\":{}}\0", "granted: no such field"),
                arguments("{}\0", "it is empty"),
                arguments("{\"failed\":{}}\0", "failed.reason: it is missing"),
                arguments("{\"finished\":{}}{}\0", "it is not JSON"),
                arguments(progressed("1".repeat(100_000)), "it is not JSON"),
                arguments(progressed("9223372036854775808"), "progressed.bytes: it is no 64-bit integer"),
                arguments(progressed("1e3"), "progressed.bytes: it is no 64-bit integer: 1e3"),
                arguments(progressed("\"1\""), "progressed.bytes: it should be an integer"),
                arguments(progressed("[".repeat(100_000)), "progressed.bytes: it should be an integer"),
                arguments("{\"a\":".repeat(100_000) + "\0", "a: no such field"),
                arguments(offered("[" + "1,".repeat(64) + "1]"), "too many dimensions: found=65 most=64"),
                arguments(offered("[null]"), "shape[0]: it should be an integer"),
                arguments(listed("n".repeat(65_537)), "too many characters of a name: found=65537 most=65536"));
    }

    private static String progressed(String bytes) {
        return "{\"progressed\":{\"bytes\":" + bytes + "}}\0";
    }

    private static String offered(String shape) {
        String offer = "{\"name\":\"a\",\"part\":\"NONE\",\"dtype\":\"<i4\",\"shape\":" + shape + "}";
        return "{\"offered\":{\"offers\":[" + offer + "]}}\0";
    }

    private static String listed(String name) {
        return "{\"listed\":{\"objects\":[{\"place\":0,\"name\":\"" + name + "\",\"byteSize\":1,\"tag\":\"\"}]}}\0";
    }

    @ParameterizedTest(name = "{1}")
    @MethodSource("brokenMessages")
    void whatIsNoAnswerIsRefusedWithTheReason(String printed, String reason) {
        assertThatThrownBy(() -> answer(printed))
                .isExactlyInstanceOf(IOException.class)
                .hasMessageContaining(reason)
                .satisfies(e -> assertThat(String.valueOf(e.getMessage())).hasSizeLessThan(300));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "{\"finished\":{}}"})
    void anOutputThatEndsWithinAMessageHasEnded(String printed) {
        assertThatThrownBy(() -> answer(printed)).isInstanceOf(EOFException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"version\":2,\"kind\":\"hdf5\"}\0",
                "{\"version\":5,\"kind\":\"hdf5\",\"as\":[1]}\0",
                "\0\0\0\2"
            })
    void anotherVersionOfTheWireIsRefusedByName(String greeting) {
        byte[] bytes = greeting.getBytes(StandardCharsets.ISO_8859_1);

        assertThatThrownBy(() -> requests(Stream.of(bytes)).kind())
                .isExactlyInstanceOf(IOException.class)
                .hasMessageMatching("the daemon .*version .* of the wire, .*this reader.*");
    }
}
