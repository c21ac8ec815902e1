package dev.larder.command.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Column;
import dev.larder.loader.Field;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FieldTextTest {
    /** Fields of the user's own code, of several datasets, and those that other options or kinds of columns make. */
    private static final Set<String> NOT_STEPS = Set.of(
            "rows", "texts", "files", "images", "as", "from", "map", "mapRagged", "transform", "computed", "together");

    @Test
    void everyFormOfAFieldHasItsNameHere() {
        List<String> names = Stream.of(Field.class.getMethods())
                .filter(method -> method.getReturnType() == Field.class)
                .map(Method::getName)
                .filter(name -> !NOT_STEPS.contains(name))
                .distinct()
                .toList();

        assertThat(FieldText.names())
                .containsAll(names)
                .containsAll(TransformText.STEPS.names())
                .hasSize(names.size() + TransformText.STEPS.names().size());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "paded|no such step: array=tokens step=paded; did you mean padded? there are window, ",
                "padded,packed|a step has to come first: array=tokens step=packed; write packed,…",
                "packed,padLeft|a step does not take these arguments: array=tokens step=padLeft reason=",
                "truncate(0)|a step does not take these arguments: array=tokens step=truncate(0) reason=at least one item",
                "window|wrong number of arguments of a step: array=tokens step=window; write window(length)",
                "lookup(a)|wrong number of arguments of a step: array=tokens step=lookup(a); write lookup(keys,index)",
                "truncate(3),normalise(1,2)|no such step: array=tokens step=normalise; did you mean normalize?"
            })
    void aWrongStepIsNamed(String text, String message) {
        assertThatThrownBy(() -> FieldText.parse("tokens", Column.Kind.RAGGED, text))
                .hasMessageStartingWith(message);
    }
}
