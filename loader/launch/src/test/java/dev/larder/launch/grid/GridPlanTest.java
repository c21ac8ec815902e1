package dev.larder.launch.grid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GridPlanTest {
    private static GridPlan grid(String axes, String... command) {
        return new GridPlan(Arrays.stream(axes.split(" ", -1)).map(Axis::parse).toList(), List.of(command));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lr=1e-3,1e-4    | 1e-3 1e-4",
                "seed=0..3       | 0 1 2 3",
                "t=-2..0         | -2 -1 0",
                "t=3..1:-1       | 3 2 1",
                "drop=0..1:0.25  | 0 0.25 0.5 0.75 1",
                "x=0..1:0.4      | 0 0.4 0.8",
                "n=1e2..3e2:1e2  | 100 200 300",
                "s=7,0..2        | 7 0 1 2",
                "net=a..b        | a..b",
                "p=../x,y=z      | ../x y=z",
                "one=5..5        | 5"
            })
    void valuesAreListsRangesAndSteps(String text, String values) {
        assertThat(String.join(" ", Axis.parse(text).values())).isEqualTo(values);
    }

    @Test
    void anEmptyValueIsAValue() {
        assertThat(Axis.parse("flag=,--fast").values()).containsExactly("", "--fast");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"lr", "=1", "1a=2", "a b=1", "s=3..1", "s=0..1:0", "s=0..3:-1", "s=1,1", "s=0..2,2", "s=0..1e9"})
    void whatIsNoParameterIsWrongUsageThatQuotesIt(String text) {
        assertThatThrownBy(() -> Axis.parse(text))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.USAGE))
                .hasMessageContaining("parameter=" + text);
    }

    @Test
    void eachValueMeetsEachTheLastTurningFastest() {
        List<GridJob> jobs =
                grid("lr=1,2 seed=0..1", "t", "--lr={lr}", "{seed}").jobs();

        assertThat(jobs.stream().map(GridJob::text))
                .containsExactly("lr=1 seed=0", "lr=1 seed=1", "lr=2 seed=0", "lr=2 seed=1");
        assertThat(jobs.get(3).words()).containsExactly("t", "--lr=2", "1");
        assertThat(jobs.get(3).number()).isEqualTo(4);
        assertThat(jobs.get(3).fileName()).isEqualTo("0004");
    }

    @ParameterizedTest
    @CsvSource({
        "{x}, 5",
        "a{x}b{x}, a5b5",
        "{{x}}, {x}",
        "{{x}, {5",
        "{x}}, 5}",
        "$5 \\ {x}, $5 \\ 5",
        "{}, {}",
        "{print $1}, {print $1}",
        "{\"x\": {x}}, {\"x\": 5}"
    })
    void valuesTakeThePlaceOfNamesInBraces(String word, String filled) {
        assertThat(grid("x=5", "t", word).jobs().get(0).words()).containsExactly("t", filled);
    }

    @Test
    void aValueWithBracesIsPutInAsItIs() {
        assertThat(grid("x={y},$1 y=2", "{x}{y}").jobs().stream().map(GridJob::words))
                .containsExactly(List.of("{y}2"), List.of("$12"));
    }

    @Test
    void aNameThatIsNoParametersIsNamed() {
        assertThatThrownBy(() -> grid("lr=1", "t", "--seed={seed}"))
                .isInstanceOf(LarderException.class)
                .hasMessage("the command names a parameter that is not given: name={seed} parameters=[lr];"
                        + " give seed=VALUE, or write {{seed}} for braces of the command's own");
    }

    @Test
    void parametersThatShareAVariableAreRefused() {
        assertThatThrownBy(() -> grid("batch-size=1 batch_size=2", "t"))
                .hasMessageContaining("LARDER_PARAM_BATCH_SIZE")
                .hasMessageContaining("batch-size, batch_size");
        assertThatThrownBy(() -> grid("a=0..999 b=0..999", "t")).hasMessageContaining("too many jobs");
    }

    @Test
    void aGridWithoutParametersIsOneJob() {
        assertThat(new GridPlan(List.of(), List.of("t")).jobs()).hasSize(1);
    }
}
