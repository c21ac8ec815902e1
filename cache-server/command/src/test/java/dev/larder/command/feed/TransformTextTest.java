package dev.larder.command.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.Resampling;
import dev.larder.loader.transform.Transform;
import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TransformTextTest {
    private static Transform parse(String text) {
        return TransformText.parse("image", text);
    }

    @Test
    void stepsAreThoseOfTransforms() {
        assertThat(parse("toFloat,normalize(0.286,0.353)"))
                .isEqualTo(new Transform().toFloat().normalize(0.286f, 0.353f));
        assertThat(parse(" randomCrop( 32, 32,4 ) , randomFlip, normalize([1,2,3],[0.5, .5, 5e-1]),channelsFirst() "))
                .isEqualTo(new Transform()
                        .randomCrop(32, 32, 4)
                        .randomFlip(0.5f)
                        .normalize(new float[] {1, 2, 3}, new float[] {0.5f, 0.5f, 0.5f})
                        .channelsFirst());
        assertThat(parse("cast(<f2),scale(2,-1),centerCrop(3,4),flip,randomFlip(0.25)"))
                .isEqualTo(new Transform()
                        .cast("<f2")
                        .scale(2, -1)
                        .centerCrop(3, 4)
                        .flip()
                        .randomFlip(0.25f));
        assertThat(parse("decode,resizeShorter(256),centerCrop(224,224)"))
                .isEqualTo(
                        new Transform().decode(Colours.RGB).resizeShorter(256).centerCrop(224, 224));
        assertThat(parse("decode(grey),randomResizedCrop(24,32),colourJitter(0.4,0.3,.2,0.1),resize(3,4,lanczos)"))
                .isEqualTo(new Transform()
                        .decode(Colours.GREY)
                        .randomResizedCrop(24, 32)
                        .colourJitter(0.4f, 0.3f, 0.2f, 0.1f)
                        .resize(3, 4, Resampling.LANCZOS));
        assertThat(parse("fromBfloat16,toBfloat16,oneHot(10)"))
                .isEqualTo(new Transform().fromBfloat16().toBfloat16().oneHot(10));
    }

    @Test
    void everyStepOfATransformHasItsNameHereButThoseOfTheUsersOwnCode() {
        List<String> names = Stream.of(Transform.class.getMethods())
                .filter(method -> method.getReturnType() == Transform.class)
                .filter(method -> !method.getName().equals("then") && !isOwnCode(method))
                .map(Method::getName)
                .distinct()
                .toList();

        assertThat(TransformText.STEPS.names()).containsExactlyInAnyOrderElementsOf(names);
    }

    private static boolean isOwnCode(Method method) {
        return Stream.of(method.getParameterTypes())
                .anyMatch(type -> type.isAnnotationPresent(FunctionalInterface.class));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "normalise(1,2)|no such step: array=image step=normalise; did you mean normalize? there are toFloat, ",
                "flip,|no such step: array=image step=; there are toFloat, ",
                "normalize(1)|wrong number of arguments of a step: array=image step=normalize(1); write normalize(mean,deviation)",
                "randomFlip(1,2)|wrong number of arguments of a step: array=image step=randomFlip(1,2); write randomFlip(probability=0.5)",
                "randomCrop(3,x,1)|an argument of a step is not a whole number: array=image step=randomCrop(3,x,1) width=x; write ",
                "scale(1,NaN)|an argument of a step is not a number: array=image step=scale(1,NaN) offset=NaN; write ",
                "normalize([1,2],3)|an argument of a step is not a list of numbers: array=image step=normalize([1,2],3) deviation=3",
                "normalize(1,0)|a step does not take these arguments: array=image step=normalize(1,0) reason=a deviation must be",
                "cast(q)|a step does not take these arguments: array=image step=cast(q) reason=cannot read dtype",
                "decode(cmyk)|an argument of a step is none of rgb, grey: array=image step=decode(cmyk) colours=cmyk; write decode",
                "flip(|parentheses of a step do not match: array=image step=flip(; write STEP",
                "flip()x|a step does not end with its parenthesis: array=image step=flip()x; write flip"
            })
    void whatIsWrongIsNamedWithWhatIsRight(String text, String message) {
        assertThatThrownBy(() -> parse(text)).hasMessageStartingWith(message);
    }
}
