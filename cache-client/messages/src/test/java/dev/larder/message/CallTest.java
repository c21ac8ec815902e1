package dev.larder.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls of methods and their answers. */
class CallTest {
    record Load(String name, @OptionalField long bytes) {}

    record Status(@OptionalField boolean everything) {}

    private static final Map<String, Class<? extends Record>> METHODS =
            Map.of("a.Load", Load.class, "a.Status", Status.class);

    private static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static Call decode(String text) {
        return Call.decode(text(text), METHODS);
    }

    @Test
    void parametersAreThoseOfTheMethodWhereverTheyAreInTheMessage() {
        Call load = new Call("a.Load", new Load("n", 7), true, false, false);

        assertThat(decode("{\"method\":\"a.Load\",\"parameters\":{\"name\":\"n\",\"bytes\":7},\"more\":true}"))
                .isEqualTo(load);
        assertThat(decode("{\"more\":true,\"parameters\":{\"bytes\":7,\"name\":\"n\"},\"method\":\"a.Load\"}"))
                .isEqualTo(load);
        assertThat(Messages.encode(load))
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("{\"method\":\"a.Load\",\"parameters\":{\"name\":\"n\",\"bytes\":7},\"more\":true}\0");
    }

    @Test
    void aCallWithoutParametersHasThoseThatAreAbsent() {
        assertThat(decode("{\"method\":\"a.Status\",\"oneway\":true,\"upgrade\":true}"))
                .isEqualTo(new Call("a.Status", new Status(false), false, true, true));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "{\"method\":\"a.Load\"}; name; it is missing",
                "{\"method\":\"a.Load\",\"parameters\":{\"name\":1}}; name; it should be a text, and is a number",
                "{\"method\":\"a.Load\",\"parameters\":{\"name\":\"n\",\"parameters\":1}}; parameters; no such field",
                "{\"method\":\"a.Load\",\"parameters\":[]}; ''; it should be an object, and is a list"
            })
    void aWrongParameterIsReportedByItsName(String text, String field, String reason) {
        assertThatThrownBy(() -> decode(text)).isInstanceOfSatisfying(Call.Refused.class, refused -> {
            BadMessage parameter = Objects.requireNonNull(refused.parameter());
            assertThat(parameter.field()).isEqualTo(field);
            assertThat(parameter.reason()).isEqualTo(reason);
            assertThat(refused.call().method()).isEqualTo("a.Load");
        });
    }

    @Test
    void anUnknownMethodIsRefusedWithoutALookAtItsParameters() {
        assertThatThrownBy(() -> decode("{\"method\":\"a.Other\",\"parameters\":{\"x\":[1]},\"oneway\":true}"))
                .isInstanceOfSatisfying(Call.Refused.class, refused -> {
                    assertThat(refused.parameter()).isNull();
                    assertThat(refused.call().method()).isEqualTo("a.Other");
                    assertThat(refused.call().oneway()).isTrue();
                });
    }

    @Test
    void anAnswerOfALaterReleaseIsRead() {
        record Answer(@OptionalField @Nullable String name) {}

        assertThat(MethodReply.decode(
                        text("{\"parameters\":{\"name\":\"n\",\"new\":{}},\"continues\":true,\"new\":1}"),
                        Answer.class))
                .isEqualTo(new MethodReply(null, new Answer("n"), true));
        assertThat(MethodReply.decode(text("{\"error\":\"a.Failed\"}"), Answer.class))
                .isEqualTo(new MethodReply("a.Failed", null, false));
    }
}
