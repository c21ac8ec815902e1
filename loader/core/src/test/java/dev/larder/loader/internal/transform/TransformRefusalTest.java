package dev.larder.loader.internal.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class TransformRefusalTest {
    private static final float[] THREE = {1, 2, 3};

    static List<Arguments> unfit() {
        return List.of(
                arguments(
                        new Transform().toFloat(),
                        "<i4",
                        shape(2),
                        "step=toFloat() place=1 dtype=<i4 shape=[2]"
                                + " reason=toFloat() has no divisor for integers of this type; use cast(\"<f4\") to keep"
                                + " their values, or scale(factor, offset)"),
                arguments(
                        new Transform().flip().normalize(0, 1),
                        "|u1",
                        shape(2, 2),
                        "step=normalize([0.0], [1.0]) place=2"
                                + " dtype=|u1 shape=[2, 2] reason=normalize takes floats; put toFloat(),"
                                + " scale(factor, offset) or cast(\"<f4\") before it"),
                arguments(
                        new Transform().normalize(THREE, THREE),
                        "<f4",
                        shape(4, 5),
                        "dtype=<f4 shape=[4, 5] reason=the numbers of means and channels differ means=3 channels=1; give"
                                + " one mean and deviation for each channel, or one for all"),
                arguments(new Transform().normalize(THREE, THREE), "<f4", shape(3, 4, 5), "means=3 channels=5; "),
                arguments(
                        new Transform().channelsFirst().normalize(THREE, THREE),
                        "<f4",
                        shape(3, 4, 5),
                        "shape=[5, 3, 4]"),
                arguments(
                        new Transform().randomCrop(9, 4, 2),
                        "|u1",
                        shape(4, 4),
                        "step=randomCrop(9, 4, 2) place=1 dtype=|u1"
                                + " shape=[4, 4] reason=the window is larger than the sample; crop to at most the sample's size and"
                                + " its padding on both sides"),
                arguments(
                        new Transform().centerCrop(3, 3).centerCrop(2, 4),
                        "|u1",
                        shape(4, 4),
                        "place=2 dtype=|u1 shape=[3, 3]"),
                arguments(new Transform().flip(), "|u1", shape(4), "reason=a picture has height × width"),
                arguments(
                        new Transform().randomFlip(0.5f),
                        "|u1",
                        shape(1, 2, 3, 4),
                        "reason=a picture has height × width"),
                arguments(new Transform().flip(), "|u1", shape(0, 4), "reason=a picture has height × width"),
                arguments(
                        new Transform().channelsFirst().channelsFirst(),
                        "|u1",
                        shape(4, 4),
                        "channels are already first"),
                arguments(
                        new Transform().toBfloat16(),
                        "|u1",
                        shape(4),
                        "reason=bfloat16 takes floats; put toFloat(), scale(factor, offset) or cast(\"<f4\")"),
                arguments(
                        new Transform().fromBfloat16(),
                        "<i2",
                        shape(4),
                        "reason=fromBfloat16 takes unsigned integers of 2 bytes; give it an array of u2"),
                arguments(new Transform().oneHot(3), "<f4", shape(), "reason=oneHot takes integers; put cast(\"<i8\")"),
                arguments(
                        new Transform().cast("<c8"),
                        "<f4",
                        shape(2),
                        "step=cast(<c8) place=1 dtype=<f4 shape=[2] reason=not a numeric type; cast to ?, i1 to i8, u1"
                                + " to u8, f2, f4 or f8"),
                arguments(
                        new Transform().toFloat(),
                        "<U4",
                        shape(2),
                        "reason=this step cannot compute with elements of this type"),
                arguments(
                        new Transform().scale(1, 0),
                        "<f16",
                        shape(2),
                        "dtype=<f16 shape=[2] reason=this step cannot compute with elements of this type"),
                arguments(
                        new Transform().map((values, shape, random) -> {}),
                        "|u1",
                        shape(2),
                        "step=map(…) place=1 dtype=|u1"
                                + " shape=[2] reason=the function takes float32 values; put toFloat() or cast(\"<f4\") before it"),
                arguments(
                        new Transform().randomResizedCrop(2, 2),
                        "|u1",
                        shape(4, 4, 3),
                        "reason=this step takes encoded images; put it right behind decode(…); stored pixels take"
                                + " resize(h, w), randomCrop(h, w, padding) and centerCrop(h, w)"),
                arguments(
                        new Transform().flip().decode(Colours.RGB),
                        "|u1",
                        shape(4, 4, 3),
                        "reason=this step takes encoded images; put it first, over a column of files or bytes"),
                arguments(
                        new Transform().oneHot(1 << 30), "|u1", shape(2), "reason=a sample would be larger than 1 GiB"),
                arguments(
                        new Transform(),
                        "|u1",
                        shape(1L << 40, 1L << 40),
                        "reason=a sample would be larger than 1 GiB"));
    }

    @ParameterizedTest
    @MethodSource("unfit")
    void stepsThatDoNotFitAreRefusedBeforeAnySample(Transform transform, String dtype, long[] shape, String message) {
        assertThatThrownBy(() -> SampleTransform.compile(transform, Dtype.parse(dtype), shape))
                .isInstanceOfSatisfying(LarderException.class, e -> {
                    assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT);
                })
                .hasMessageStartingWith("transform does not fit the array: ")
                .hasMessageContaining(message);
    }

    static List<Transform> shaped() {
        return List.of(
                new Transform().flip(),
                new Transform().toFloat().channelsFirst(),
                new Transform().oneHot(3),
                new Transform().normalize(THREE, THREE),
                new Transform().map((values, shape, random) -> {}));
    }

    @ParameterizedTest
    @MethodSource("shaped")
    void rowsOfDifferentLengthsTakeNoStepThatNeedsAShape(Transform transform) {
        assertThatThrownBy(() -> SampleTransform.compileElements(transform, Dtype.parse("<f4")))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("this step needs rows of one shape");
    }

    @Test
    void nonsenseIsAMistakeOfTheCaller() {
        assertThatThrownBy(() -> new Transform().normalize(0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Transform().normalize(THREE, new float[2]))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Transform().randomFlip(1.1f)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Transform().randomFlip(Float.NaN)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Transform().randomCrop(0, 1, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Transform().randomCrop(1, 1, -1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Transform().oneHot(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 5, 300})
    void aLabelThatIsNoClassIsRefused(long label) {
        byte[] stored = ByteBuffer.allocate(8).putLong(label).array();

        assertThatThrownBy(() -> Samples.floats(new Transform().oneHot(5), ">i8", shape(), stored))
                .isInstanceOf(LarderException.class)
                .hasMessage("label is outside the classes: label=" + label
                        + " classes=5; give oneHot(…) the number of classes; labels count from 0");
    }

    private static long[] shape(long... dimensions) {
        return dimensions;
    }
}
