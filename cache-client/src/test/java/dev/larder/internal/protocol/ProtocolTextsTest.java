package dev.larder.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ShardRows;
import dev.larder.message.Messages;
import dev.larder.message.MethodReply;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Limits of texts in messages, options of loads, and what an old client is answered. */
class ProtocolTextsTest {
    private final LarderException failure =
            Failure.of(ErrorCode.BAD_INPUT, "what").with("method", "m").remedy("do");

    @ParameterizedTest
    @CsvSource({
        "abcdefghi, 9, abcdefghi",
        "abcdefghij, 9, abcdef…",
        "abcdefghij, 10, abcdefghij",
        "öööö, 8, öööö",
        "öööö, 7, öö…",
        "😀😀, 8, 😀😀",
        "😀😀, 7, 😀…",
        "😀😀, 6, …",
    })
    void aTextIsCutBetweenCharactersSoThatItFitsWithItsEllipsis(String text, int maxBytes, String cut) {
        assertThat(MessageText.cut(text, maxBytes)).isEqualTo(cut);
    }

    @Test
    void aNameAndADtypeOfARowHaveLimits() {
        Dtype wide = Dtype.parse("[('" + "n".repeat(32 * 1024) + "', '<i4'), ('b', '<i4')]");
        Dtype narrow = Dtype.parse("[('a', '<i4')]");
        int most = 32 * 1024 - narrow.descrJson().length() + 1;
        Dtype longest = Dtype.parse("[('" + "n".repeat(most) + "', '<i4')]");

        assertThat(ArrayRow.nameText("x".repeat(1024))).hasSize(1024);
        assertThat(ArrayRow.nameText("x".repeat(1025))).isEqualTo("x".repeat(1021) + "…");
        assertThat(ArrayRow.objection("x".repeat(1024), narrow)).isNull();
        assertThat(ArrayRow.objection("x".repeat(1025), narrow)).contains("have 1025 bytes together");
        assertThat(ArrayRow.dtypeText(narrow)).isEqualTo(narrow.descrJson());
        assertThat(ArrayRow.dtypeText(Dtype.parse("<f4"))).isEqualTo("<f4");
        assertThat(ArrayRow.dtypeText(longest)).hasSize(32 * 1024);
        assertThat(ArrayRow.objection("x", longest)).isNull();
        assertThat(ArrayRow.dtypeText(wide)).isEqualTo("|V8");
        assertThat(ArrayRow.objection("x", wide)).contains("its dtype takes", "more than the limit of 32768");
    }

    @Test
    void textsOfRequestsAreAsLongAsTheirLimitAtMost() {
        String name = "x".repeat(Protocol.MAX_NAME_LENGTH);

        assertThat(new Request.NewFile(name, 0, "").array()).isEqualTo(name);
        assertThatThrownBy(() -> new Request.NewFile(name + "x", 0, ""))
                .hasMessage("array is longer than " + Protocol.MAX_NAME_LENGTH + " characters");
        assertThatThrownBy(() -> new Request.NewFile(name, -1, "")).hasMessage("bytes is negative: -1");
    }

    @Test
    void aClientOfTheFormerProtocolIsRecognizedAndGetsAFrameItUnderstands() {
        ByteBuffer hello = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
        hello.putInt(8)
                .putShort((short) 4)
                .putShort((short) 1)
                .putShort((short) 1818)
                .putShort((short) 3);

        assertThat(FormerProtocol.isHello(hello.array())).isTrue();
        assertThat(FormerProtocol.isHello(Arrays.copyOf(hello.array(), 11))).isFalse();
        assertThat(FormerProtocol.isHello(hello.putShort(6, (short) 2).array())).isFalse();
        assertThat(FormerProtocol.isHello(
                        hello.putShort(6, (short) 1).putShort(8, (short) 1).array()))
                .isFalse();

        String message = String.valueOf(failure.getMessage());
        ByteBuffer refusal = ByteBuffer.wrap(FormerProtocol.refusal(failure)).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(refusal.getInt()).isEqualTo(refusal.capacity() - 4);
        assertThat(List.of(refusal.getShort(), refusal.getShort(), refusal.getShort(), refusal.getShort()))
                .containsExactly((short) 4, (short) 30, (short) 1818, (short) 3);
        assertThat(refusal.getInt()).isEqualTo(failure.rawCode());
        byte[] text = new byte[refusal.getShort()];
        refusal.get(text);
        assertThat(new String(text, StandardCharsets.UTF_8)).isEqualTo(message);
        assertThat(refusal.getShort()).isZero();
        assertThat(refusal.hasRemaining()).isFalse();
        LarderException long1 =
                Failure.of(ErrorCode.BAD_INPUT, "x".repeat(9000)).remedy("");
        assertThat(FormerProtocol.refusal(long1)).hasSize(4 + 8 + 4 + 2 + 4096 + 2);
    }

    @Test
    void onlyOptionsThatChangeTheContentsMakeAnotherVersion() {
        LoadOptions some = LoadOptions.none().withKeys(List.of("a", "b"));
        List<UnaryOperator<LoadOptions>> changes = List.of(
                options -> options.withKeys(List.of("a")),
                options -> options.withAs(LoadOptions.As.BYTES),
                options -> options.withElements("<f4", ""),
                options -> options.withElements("", "3"),
                options -> options.withPackBelowBytes(7),
                options -> options.withInPlace(true),
                options -> options.withExclude(List.of("*.tmp")),
                options -> options.withShard(new ShardRows(0, 2)),
                options -> options.withDecimals("f8"));

        assertThat(some.givesSameAs(LoadOptions.none().withKeys(List.of("b", "a"))))
                .isTrue();
        assertThat(some.givesSameAs(some.withStrict(true).withEvenIfUnchanged(true)))
                .isTrue();
        assertThat(changes).allSatisfy(change -> {
            LoadOptions changed = change.apply(some);
            assertThat(changed.givesSameAs(some)).as(changed.toString()).isFalse();
            assertThat(some.givesSameAs(changed)).isFalse();
            assertThat(changed.givesSameAs(change.apply(some.withStrict(true)))).isTrue();
        });
        assertThat(LoadOptions.none().withPackBelowBytes(0).packBelowBytes()).isZero();
        assertThatThrownBy(() -> LoadOptions.none().withPackBelowBytes(-2)).hasMessage("packBelowBytes=-2");
    }

    @Test
    void theOptionsOfALoadAreKeptWhenOthersChange() {
        LoadRequest.Source source = new LoadRequest.Source("a", "/a");
        LoadRequest request = new LoadRequest(List.of(), List.of("k"), 3).withRegisterOnly(true);

        assertThat(request.withSources(List.of(source)))
                .isEqualTo(new LoadRequest(
                        List.of(source), LoadOptions.none().withKeys(List.of("k")), 3, Retention.NORMAL, true));
        assertThatThrownBy(() -> new LoadRequest(List.of(), List.of(), LoadRequest.MAX_WORKERS + 1))
                .hasMessageContaining("workers is not from 0 to 65534: 65535");
    }

    @Test
    void aSourceIsShownWithoutSecrets() {
        LoadRequest.Source remote = new LoadRequest.Source("a", "https://me:hush@host/a");
        LoadRequest.Source local = new LoadRequest.Source("a", "/b/c");

        assertThat(remote.isRemote()).isTrue();
        assertThat(remote).hasToString("a=https://host/a");
        assertThat(local.isRemote()).isFalse();
        assertThat(local).hasToString("a=/b/c");
        assertThat(local.file()).isEqualTo(Path.of("/b/c"));
        assertThatThrownBy(() -> new LoadRequest.Source("a", "/b\0").file())
                .hasMessageContaining("path cannot be a file path in this locale: dataset=a path=/b?");
    }

    @ParameterizedTest
    @CsvSource({"MethodNotFound, method", "InterfaceNotFound, interface", "InvalidParameter, parameter"})
    void errorsOfVarlinkHaveTheirOneParameterAndOursHaveNone(String error, String parameter) {
        LarderException failure =
                Failure.of(ErrorCode.BAD_INPUT, "what").with(parameter, "m").remedy("do");
        byte[] ofCall = Answers.encodeOne(Problem.ofCall(error, failure));
        byte[] ours = Answers.encodeOne(Problem.of(failure));

        assertThat(ofCall)
                .asString(StandardCharsets.UTF_8)
                .startsWith("{\"error\":\"org.varlink.service." + error + "\",")
                .endsWith(",\"" + parameter + "\":\"m\"}}\0");
        assertThat(ours)
                .asString(StandardCharsets.UTF_8)
                .startsWith("{\"error\":\"dev.larder.Store.BadInput\",")
                .doesNotContain(",\"" + parameter + "\":\"m\"}}");
    }

    @Test
    void theTraceOfAnUnexpectedFailureReachesTheClient() {
        Problem problem = Problem.of(new IllegalStateException("oops"));

        assertThat(problem.error()).isEqualTo("dev.larder.Store.Unexpected");
        assertThat(problem.rawCode()).isEqualTo(ErrorCode.UNEXPECTED.number());
        assertThat(problem.message())
                .isEqualTo("unexpected failure in the daemon: java.lang.IllegalStateException: oops");
        assertThat(problem.trace())
                .contains("ProtocolTextsTest.theTraceOfAnUnexpectedFailureReachesTheClient")
                .doesNotEndWith("\n");
        assertThat(problem.exception().getCause()).isInstanceOf(DaemonTrace.class);
        assertThat(Problem.of(Failure.of(ErrorCode.NOT_FOUND, "no such dataset").remedy(""))
                        .exception()
                        .getCause())
                .isNull();
    }

    @Test
    void anErrorWithManyValuesKeepsTheFirst() {
        Failure failure = Failure.of(ErrorCode.BAD_INPUT, "what");
        for (int i = 0; i < 40; i++) {
            failure = failure.with("k" + i, "v".repeat(i == 0 ? 9000 : 1));
        }

        Problem problem = Problem.of(failure.remedy(""));

        assertThat(problem.values()).hasSize(32).containsEntry("k31", "v");
        assertThat(MessageText.bytes(String.valueOf(problem.values().get("k0"))))
                .isEqualTo(8 * 1024);
    }

    @Test
    void aMethodHasAShortNameAndItsInterfaceADescription() {
        assertThat(Protocol.method(new Request.Status())).isEqualTo("dev.larder.Store.Status");
        assertThat(Protocol.shortMethod(new Request.Status())).isEqualTo("Status");
        assertThat(Protocol.description("dev.larder.Store")).contains("interface dev.larder.Store", "method Status");
        assertThatThrownBy(() -> Protocol.description("dev.larder.Other"))
                .hasMessageContaining("no such interface: interface=dev.larder.Other");
    }

    @Test
    void anAnswerWithoutFieldsEndsTheCall() {
        byte[] message = Messages.encode(new MethodReply(null, null, false));

        assertThat(Answers.decode(ByteBuffer.wrap(message, 0, message.length - 1)))
                .isEqualTo(new Answers.Received(Done.NOTHING, false));
    }
}
