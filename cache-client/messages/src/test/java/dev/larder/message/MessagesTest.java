package dev.larder.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.message.Messages.MessageTooLong;
import dev.larder.message.Messages.UnknownFields;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessagesTest {
    enum Colour {
        DARK_RED,
        OTHER
    }

    sealed interface Shape permits Circle, Square {}

    record Circle(long radius) implements Shape {}

    record Square(int side, @OptionalField boolean isFilled) implements Shape {}

    sealed interface Listing {
        record Some(List<String> names) implements Listing {}
    }

    record Tree(String name, @OptionalField @Nullable List<Tree> children) {}

    record Everything(
            String text,
            long number,
            int small,
            boolean truth,
            char letter,
            Duration time,
            Instant moment,
            Colour colour,
            List<Long> numbers,
            Map<String, String> texts,
            Shape shape,
            Tree tree,
            @FieldName("interface") String reserved,
            @OptionalField(orElse = -1) long limit,
            @OptionalField @Nullable String note) {}

    private static final Everything EVERYTHING = new Everything(
            "größe \"\\\u0001\u2028 😀",
            Long.MIN_VALUE,
            -7,
            true,
            'F',
            Duration.ofMillis(1500),
            Instant.parse("2026-11-26T03:00:00.123456789Z"),
            Colour.DARK_RED,
            List.of(0L, Long.MAX_VALUE),
            Map.of("a b", "c", "", ""),
            new Square(3, true),
            new Tree("root", List.of(new Tree("leaf", null))),
            "x",
            -1,
            null);

    private static ByteBuffer body(byte[] message) {
        assertThat(message[message.length - 1]).isZero();
        return ByteBuffer.wrap(message, 0, message.length - 1).slice();
    }

    private static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static <R extends Record> R strict(String text, Class<R> type) {
        return Messages.decode(text(text), type, UnknownFields.REFUSED);
    }

    @Test
    void everyKindOfValueComesBackAsItWas() {
        byte[] message = Messages.encode(EVERYTHING);

        assertThat(Messages.decode(body(message), Everything.class, UnknownFields.REFUSED))
                .isEqualTo(EVERYTHING);
        assertThat(Messages.decode(body(message), Everything.class, UnknownFields.IGNORED))
                .isEqualTo(EVERYTHING);
    }

    @Test
    void theFormIsPlainJson() {
        assertThat(Messages.encode(EVERYTHING))
                .asString(StandardCharsets.UTF_8)
                .startsWith("{\"text\":\"größe \\\"\\\\\\u0001\\u2028"
                        + " 😀\",\"number\":-9223372036854775808,\"small\":-7,\"truth\":true,"
                        + "\"letter\":\"F\",\"timeMs\":1500,\"moment\":\"2026-11-26T03:00:00.123456789Z\",\"colour\":\"dark_red\","
                        + "\"numbers\":[0,9223372036854775807],\"texts\":{")
                .endsWith("},\"shape\":{\"square\":{\"side\":3,\"isFilled\":true}},"
                        + "\"tree\":{\"name\":\"root\",\"children\":[{\"name\":\"leaf\"}]},\"interface\":\"x\"}\0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "null",
                "1",
                "{",
                "{}",
                "{\"radius\":1}{}",
                "{\"radius\":1} x",
                "{\"radius\":1,}",
                "{\"radius\":01}",
                "{\"radius\":+1}",
                "{\"radius\":1.0}",
                "{\"radius\":1e2}",
                "{\"radius\":\"1\"}",
                "{\"radius\":NaN}",
                "{\"radius\":null}",
                "{\"radius\":true}",
                "{\"radius\":9223372036854775808}",
                "{\"radius\":1,\"radius\":1}",
                "{\"radius\":1,\"x\":1}",
                "{'radius':1}",
                "{radius:1}",
                "{\"radius\":1 /* x */}",
                "{\"radius\":1;}",
                "{\"radius\"=1}",
                "{\"radius\":1,\"\\ud800\":1}"
            })
    void whatIsNotExactlyRightIsRefused(String text) {
        assertThatThrownBy(() -> strict(text, Circle.class)).isInstanceOf(BadMessage.class);
    }

    @Test
    void aFieldThatIsWrongIsNamedByItsPath() {
        String wrong = "{\"name\":\"a\",\"children\":[{\"name\":\"b\"},{\"name\":\"c\",\"children\":[{\"name\":1}]}]}";

        assertThatThrownBy(() -> strict(wrong, Tree.class)).isInstanceOfSatisfying(BadMessage.class, e -> {
            assertThat(e.field()).isEqualTo("children[1].children[0].name");
            assertThat(e.reason()).isEqualTo("it should be a text, and is a number");
        });
    }

    @Test
    void depthIsLimitedHoweverUnknownItIs() {
        String deep = "{\"name\":\"a\",\"children\":[".repeat(100) + "]}".repeat(100);

        assertThatThrownBy(() -> strict(deep, Tree.class)).isInstanceOf(BadMessage.class);
        assertThatThrownBy(() -> Messages.decode(
                        text("{\"radius\":1,\"x\":" + "[".repeat(100_000)), Circle.class, UnknownFields.IGNORED))
                .isInstanceOf(BadMessage.class);
    }

    @Test
    void bytesThatAreNotUtf8AreRefused() {
        for (String hex : List.of("c3", "ff", "eda080", "c080", "f5808080")) {
            byte[] bytes = ("{\"name\":\"" + "\0").getBytes(StandardCharsets.UTF_8);
            ByteBuffer message = ByteBuffer.allocate(100)
                    .put(bytes, 0, bytes.length - 1)
                    .put(java.util.HexFormat.of().parseHex(hex))
                    .put("\"}".getBytes(StandardCharsets.UTF_8))
                    .flip();
            assertThatThrownBy(() -> Messages.decode(message, Tree.class, UnknownFields.REFUSED))
                    .as(hex)
                    .isInstanceOf(BadMessage.class)
                    .hasMessage("it is not UTF-8");
        }
    }

    @Test
    void aTolerantReaderIgnoresTheUnknownAndTheAbsent() {
        String later = "{\"new\":[{\"x\":1.5e300}],\"text\":\"t\",\"colour\":\"blue\",\"numbers\":null}";

        Everything read = Messages.decode(text(later), Everything.class, UnknownFields.IGNORED);

        assertThat(read.text()).isEqualTo("t");
        assertThat(read.colour()).isEqualTo(Colour.OTHER);
        assertThat(read.limit()).isEqualTo(-1);
        assertThat(read.number()).isZero();
    }

    @Test
    void whereUnknownFieldsAreSkippedTheOthersHaveToBeThere() {
        ByteBuffer later = text("{\"new\":{\"name\":[1.5]},\"name\":\"n\"}");

        assertThat(Messages.decode(later, Tree.class, UnknownFields.SKIPPED)).isEqualTo(new Tree("n", null));
        assertThatThrownBy(() -> Messages.decode(text("{\"new\":1}"), Tree.class, UnknownFields.SKIPPED))
                .hasMessage("name: it is missing");
        assertThatThrownBy(() -> Messages.decode(text("{\"name\":null}"), Tree.class, UnknownFields.SKIPPED))
                .hasMessage("name: it should be a text, and is null");
    }

    @Test
    void aMessageOfASealedInterfaceIsAnObjectWithTheRecordAsItsMember() {
        byte[] message = Messages.encode(Shape.class, new Circle(4), 100);

        assertThat(new String(message, StandardCharsets.UTF_8)).isEqualTo("{\"circle\":{\"radius\":4}}\0");
        assertThat(Messages.decode(ByteBuffer.wrap(message, 0, message.length - 1), Shape.class, UnknownFields.REFUSED))
                .isEqualTo(new Circle(4));
        assertThatThrownBy(() -> Messages.encode(Shape.class, new Circle(4), message.length - 2))
                .isInstanceOf(Messages.MessageTooLong.class);
    }

    @Test
    void aPathIsAText() {
        record Place(Path path) {}

        assertThat(strict("{\"path\":\"/a/ä b\"}", Place.class)).isEqualTo(new Place(Path.of("/a/ä b")));
        assertThatThrownBy(() -> strict("{\"path\":\"/a\\u0000\"}", Place.class))
                .hasMessageStartingWith("path: it is no path: ");
    }

    @Test
    void aMemberOfASealedInterfaceIsChosenByItsName() {
        record Holder(Shape shape) {}

        assertThat(strict("{\"shape\":{\"circle\":{\"radius\":4}}}", Holder.class))
                .isEqualTo(new Holder(new Circle(4)));
        for (String wrong : List.of(
                "{\"shape\":{}}",
                "{\"shape\":{\"triangle\":{}}}",
                "{\"shape\":{\"circle\":{\"radius\":4},\"square\":{\"side\":1}}}")) {
            assertThatThrownBy(() -> strict(wrong, Holder.class)).as(wrong).isInstanceOf(BadMessage.class);
        }
    }

    @Test
    void aMessageThatIsTooLongIsNotWritten() {
        assertThat(Messages.encode(new Tree("x".repeat(Messages.MAX_BYTES - 11), null)))
                .hasSize(Messages.MAX_BYTES + 1);
        assertThatThrownBy(() -> Messages.encode(new Tree("x".repeat(Messages.MAX_BYTES - 10), null)))
                .isInstanceOf(MessageTooLong.class);
        assertThatThrownBy(() -> Messages.encode(new Tree("数".repeat(Messages.MAX_BYTES / 2), null)))
                .isInstanceOf(MessageTooLong.class);
    }

    @Test
    void aListIsSplitIntoMessagesThatAreShortEnough() {
        List<Tree> list = new ArrayList<>(Collections.nCopies(700, new Tree("s", null)));
        list.addAll(Collections.nCopies(40, new Tree("x".repeat(100_000), null)));
        List<Tree> read = new ArrayList<>();
        List<Integer> lengths = new ArrayList<>();

        Iterator<byte[]> pages = Messages.pages(list, (some, isLast) -> new Tree(Boolean.toString(isLast), some));
        while (pages.hasNext()) {
            byte[] page = pages.next();
            Tree tree = Messages.decode(body(page), Tree.class, UnknownFields.REFUSED);
            read.addAll(java.util.Objects.requireNonNull(tree.children()));
            lengths.add(page.length);
            assertThat(tree.name()).isEqualTo(Boolean.toString(!pages.hasNext()));
        }

        assertThat(read).isEqualTo(list);
        assertThat(lengths).allMatch(length -> length <= Messages.MAX_BYTES + 1).hasSizeLessThan(16);
    }

    @Test
    void anElementThatFitsIntoNoMessageIsReported() {
        Iterator<byte[]> pages = Messages.pages(
                List.of(new Tree("x".repeat(Messages.MAX_BYTES), null)), (some, isLast) -> new Tree("", some));

        assertThatThrownBy(pages::next).isInstanceOf(MessageTooLong.class);
    }

    @Test
    void fieldsThatAreAbsentHaveTheirValuesAndAreNotWritten() {
        record Options(
                @OptionalField(orElse = 7) long number,
                @OptionalField(orElse = -3) int small,
                @OptionalField(orElse = 1) boolean isOn,
                @OptionalField(orElse = 'C') char letter,
                @OptionalField(orElse = 1500) Duration time,
                @OptionalField Instant moment) {}
        Options absent = new Options(7, -3, true, 'C', Duration.ofMillis(1500), Instant.EPOCH);

        assertThat(strict("{}", Options.class)).isEqualTo(absent);
        assertThat(strict("{\"number\":null,\"timeMs\":null}", Options.class)).isEqualTo(absent);
        assertThat(Messages.encode(absent)).asString(StandardCharsets.UTF_8).isEqualTo("{}\0");
        assertThat(Messages.encode(new Options(8, 3, false, 'F', Duration.ZERO, Instant.ofEpochSecond(1))))
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("{\"number\":8,\"small\":3,\"isOn\":false,\"letter\":\"F\",\"timeMs\":0,"
                        + "\"moment\":\"1970-01-01T00:00:01Z\"}\0");
    }

    @Test
    void aDurationIsAtMostWhatNanosecondsCount() {
        record Wait(Duration time) {}
        long most = Long.MAX_VALUE / 1_000_000;

        assertThat(strict("{\"timeMs\":" + most + "}", Wait.class)).isEqualTo(new Wait(Duration.ofMillis(most)));
        assertThatThrownBy(() -> strict("{\"timeMs\":" + (most + 1) + "}", Wait.class))
                .hasMessage("timeMs: it is not from 0 to " + most + ": " + (most + 1));
        assertThatThrownBy(() -> strict("{\"timeMs\":-1}", Wait.class)).isInstanceOf(BadMessage.class);
        assertThat(Messages.encode(new Wait(Duration.ofSeconds(Long.MAX_VALUE))))
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("{\"timeMs\":" + most + "}\0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "{\"numbers\":1}; numbers: it should be a list, and is a number",
                "{\"texts\":[]}; texts: it should be an object, and is a list",
                "{\"texts\":{\"a\":\"1\",\"a\":\"2\"}}; texts.a: it is there twice",
                "{\"texts\":{\"a\":true}}; texts.a: it should be a text, and is true or false",
                "{\"truth\":0}; truth: it should be true or false, and is a number",
                "{\"letter\":\"\"}; letter: it should be one character",
                "{\"letter\":\"ab\"}; letter: it should be one character",
                "{\"small\":2147483648}; small: it is not from -2147483648 to 2147483647: 2147483648",
                "{\"number\":1.5}; number: it is no 64-bit integer: 1.5",
                "{\"moment\":\"today\"}; moment: it is no time such as 2026-11-26T03:00:00Z: today",
                "{\"colour\":\"blue\"}; colour: it should be one of dark_red, other, and is blue",
                "{\"shape\":1}; shape: it should be an object, and is a number",
                "{\"shape\":{}}; shape: it is empty",
                "{\"shape\":{\"cube\":{}}}; shape.cube: no such field",
                "{\"tree\":[]}; tree: it should be an object, and is a list",
                "{\"x\":1}; x: no such field",
                "[]; it should be an object, and is a list"
            })
    void aWrongValueIsReportedWithItsFieldAndWhatItShouldBe(String text, String message) {
        assertThatThrownBy(() -> strict(text, Everything.class)).hasMessage(message);
    }

    @Test
    void ofALongNameOnlyTheBeginningIsReported() {
        String longest = "x".repeat(64);

        assertThatThrownBy(() -> strict("{\"" + longest + "\":1}", Circle.class))
                .hasMessage(longest + ": no such field");
        assertThatThrownBy(() -> strict("{\"" + longest + "y\":1}", Circle.class))
                .hasMessage("x".repeat(61) + "...: no such field");
    }

    @Test
    void whatIsNotJsonIsReportedInOneLineWithoutAdviceToAcceptIt() {
        assertThatThrownBy(() -> strict("{'radius':1}", Circle.class))
                .hasMessageStartingWith("it is not JSON: malformed at line 1")
                .hasMessageNotContainingAny("\n", "JsonReader");
    }

    @Test
    void aRecordThatRefusesItsValuesIsReportedWithItsReason() {
        record Even(long number) {
            Even {
                if (number % 2 != 0) {
                    throw new IllegalArgumentException("odd: " + number);
                }
            }
        }
        record Holder(Even inner) {}

        assertThat(strict("{\"inner\":{\"number\":4}}", Holder.class)).isEqualTo(new Holder(new Even(4)));
        assertThatThrownBy(() -> strict("{\"inner\":{\"number\":3}}", Holder.class))
                .isInstanceOf(BadMessage.class)
                .hasMessage("inner: odd: 3");
    }

    @Test
    void pagesOfASealedInterfaceHoldAtMostSoManyElements() {
        List<String> names = Collections.nCopies(300, "n");
        List<Integer> sizes = new ArrayList<>();

        Messages.pages(Listing.class, names, Listing.Some::new)
                .forEachRemaining(page ->
                        sizes.add(((Listing.Some) Messages.decode(body(page), Listing.class, UnknownFields.REFUSED))
                                .names()
                                .size()));

        assertThat(sizes).containsExactly(256, 44);
        Iterator<byte[]> none = Messages.pages(Listing.class, List.of(), Listing.Some::new);
        assertThat(none.next()).asString(StandardCharsets.UTF_8).isEqualTo("{\"some\":{\"names\":[]}}\0");
        assertThat(none.hasNext()).isFalse();
        assertThatThrownBy(none::next).isInstanceOf(NoSuchElementException.class);
    }

    @Test
    void theClassPathHasTheClassesOfMessagesAndOfTheirJson() {
        assertThat(Messages.classPath())
                .anySatisfy(place -> assertThat(place.resolve("dev/larder/message/Messages.class"))
                        .exists())
                .anySatisfy(place -> assertThat(place.toString()).contains("gson"));
    }
}
