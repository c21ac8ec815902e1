package dev.larder.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.ErrorCode;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.ShardRows;
import dev.larder.message.FieldName;
import dev.larder.message.OptionalField;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the interface, which is the specification, with the records that are sent. */
class InterfaceDescriptionTest {
    private static final Pattern MEMBER = Pattern.compile(
            "(?<kind>type|method|error) (?<name>[A-Z][A-Za-z0-9]*) ?\\((?<fields>[^()]*)\\)( -> \\((?<answer>[^()]*)\\))?");
    private static final Map<Class<?>, String> PLAIN = Map.of(
            String.class, "string",
            long.class, "int",
            int.class, "int",
            boolean.class, "bool",
            char.class, "string",
            Duration.class, "int",
            Instant.class, "string",
            ColumnPart.class, "string");
    private static final Map<String, String> NAMES =
            Map.of("ArrayRow", "Array", "RegionRow", "Region", "ShardRows", "Shard", "PartOfColumn", "ColumnPart");

    private final String text = Protocol.description(Protocol.INTERFACE).replaceAll("(?m)^#.*\n", "");

    private Map<String, MatchResult> members(String kind) {
        Map<String, MatchResult> members = new TreeMap<>();
        Matcher matcher = MEMBER.matcher(text);
        while (matcher.find()) {
            if (matcher.group("kind").equals(kind)) {
                members.put(matcher.group("name"), matcher.toMatchResult());
            }
        }
        return members;
    }

    private static List<String> fields(String group) {
        return Stream.of(group.split(",", -1))
                .map(String::strip)
                .filter(field -> !field.isEmpty())
                .toList();
    }

    private static String type(Type type) {
        if (type instanceof ParameterizedType generic) {
            String element = type(generic.getActualTypeArguments()[generic.getActualTypeArguments().length - 1]);
            return generic.getRawType() == List.class ? "[]" + element : "[string]" + element;
        }
        Class<?> plain = (Class<?>) type;
        return plain == Long.class
                ? "int"
                : PLAIN.getOrDefault(plain, NAMES.getOrDefault(plain.getSimpleName(), plain.getSimpleName()));
    }

    private static String field(RecordComponent component) {
        FieldName name = component.getAnnotation(FieldName.class);
        String unit = component.getType() == Duration.class ? "Ms" : "";
        String mark = component.isAnnotationPresent(OptionalField.class) ? "?" : "";
        return (name == null ? component.getName() + unit : name.value()) + ": " + mark
                + type(component.getGenericType());
    }

    private static List<String> fields(Class<?> record) {
        return Arrays.stream(record.getRecordComponents())
                .map(InterfaceDescriptionTest::field)
                .toList();
    }

    static Stream<Class<?>> types() {
        return Stream.of(
                LoadRequest.Source.class,
                ShardRows.class,
                LoadOptions.class,
                Retention.class,
                Request.NewFile.class,
                Request.PartOfColumn.class,
                Progress.class,
                Done.class,
                Build.class,
                ArrayRow.class,
                DaemonStatus.class,
                ErrorRow.class,
                RegionRow.class);
    }

    /** Returns the text of a type between its parentheses. */
    private String type(String name) {
        return Objects.requireNonNull(members("type").get(name), name).group(3);
    }

    @ParameterizedTest
    @MethodSource("types")
    void aTypeHasTheFieldsOfItsRecord(Class<?> record) {
        String name = NAMES.getOrDefault(record.getSimpleName(), record.getSimpleName());

        assertThat(fields(type(name))).as(name).isEqualTo(fields(record));
    }

    @Test
    void everyTypeIsCompared() {
        List<String> compared = Stream.concat(
                        types().map(record -> NAMES.getOrDefault(record.getSimpleName(), record.getSimpleName())),
                        Stream.of("As", "Phase", "State"))
                .sorted()
                .toList();

        assertThat(members("type").keySet()).containsExactlyElementsOf(compared);
    }

    @Test
    void wordsAreThoseOfTheEnumerations() {
        Map<String, Object[]> enumerations = new HashMap<>();
        enumerations.put("As", LoadOptions.As.values());
        enumerations.put("Phase", Progress.Phase.values());
        enumerations.put("State", ArrayRow.State.values());

        enumerations.forEach((name, constants) -> assertThat(fields(type(name)))
                .as(name)
                .isEqualTo(Arrays.stream(constants)
                        .map(constant -> ((Enum<?>) constant).name().toLowerCase(Locale.ROOT))
                        .filter(word -> !word.equals("other") && !word.equals("computed")) // of clients alone
                        .toList()));
    }

    @Test
    void everyMethodHasTheParametersOfItsRequest() {
        Map<String, List<String>> expected = new TreeMap<>();
        Protocol.METHODS.forEach((method, request) -> {
            if (method.startsWith(Protocol.INTERFACE)) {
                expected.put(method.substring(Protocol.INTERFACE.length() + 1), fields(request));
            }
        });
        Map<String, List<String>> described = new TreeMap<>();
        members("method").forEach((name, member) -> described.put(name, fields(member.group(3))));

        assertThat(described).isEqualTo(expected);
    }

    @Test
    void answersHaveTheFieldsThatAreSent() {
        List<String> sent = new ArrayList<>(fields(AnswerFields.class));

        members("method")
                .values()
                .forEach(member -> assertThat(fields(member.group(5)))
                        .as(member.group(2))
                        .isSubsetOf(sent)
                        .contains("progress: ?Progress"));
    }

    @Test
    void thereIsAnErrorForEachCode() {
        assertThat(members("error").keySet())
                .isEqualTo(Arrays.stream(ErrorCode.values())
                        .map(Problem::error)
                        .map(name -> name.substring(Protocol.INTERFACE.length() + 1))
                        .collect(Collectors.toSet()));
    }
}
