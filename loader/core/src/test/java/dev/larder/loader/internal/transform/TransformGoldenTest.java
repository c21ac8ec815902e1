package dev.larder.loader.internal.transform;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares with what golden.py wrote with numpy. */
class TransformGoldenTest {
    private static final float[] MEANS = {0.49f, 0.48f, 0.44f};
    private static final float[] DEVIATIONS = {0.2f, 0.21f, 0.22f};

    static List<String> rows() throws IOException {
        try (InputStream rows = TransformGoldenTest.class.getResourceAsStream("golden.tsv")) {
            return new String(Objects.requireNonNull(rows).readAllBytes(), UTF_8)
                    .lines()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("rows")
    void samplesBecomeWhatNumpyMakesOfThem(String row) {
        String[] parts = row.split("\t", -1);
        long[] shape = shape(parts[3]);

        SampleTransform transform = SampleTransform.compile(transform(parts[0]), Dtype.parse(parts[2]), shape);
        byte[] bytes = Samples.apply(transform, HexFormat.of().parseHex(parts[4]), 0, 7, 3, Long.parseLong(parts[1]));

        assertThat(transform.dtype().descr()).isEqualTo(parts[5]);
        assertThat(transform.rowShape()).isEqualTo(shape(parts[6]));
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(parts[7]);
    }

    private static Transform transform(String name) {
        Transform augment = new Transform().randomCrop(5, 6, 4).randomFlip(0.5f).toFloat();
        return switch (name) {
            case "flip" -> new Transform().flip();
            case "centerCrop" -> new Transform().centerCrop(4, 3);
            case "channelsFirst" -> new Transform().channelsFirst();
            case "toFloat" -> new Transform().toFloat();
            case "normalize" -> new Transform().toFloat().normalize(0.286f, 0.353f);
            case "normalize3" -> new Transform().toFloat().normalize(MEANS, DEVIATIONS);
            case "scale" -> new Transform().scale((float) (1 / 127.5), -1);
            case "augment" -> augment.normalize(MEANS, DEVIATIONS).channelsFirst();
            case "augmentGrey" ->
                new Transform().randomCrop(6, 5, 4).randomFlip(0.5f).toFloat().normalize(0.286f, 0.353f);
            case "late" ->
                new Transform().toFloat().normalize(MEANS, DEVIATIONS).randomCrop(4, 4, 2);
            case "toBfloat16" -> new Transform().toBfloat16();
            case "toFloatToBfloat16" -> new Transform().toFloat().toBfloat16();
            case "fromBfloat16" -> new Transform().fromBfloat16();
            case "oneHot" -> new Transform().oneHot(5);
            default -> new Transform().cast(name.substring("cast ".length()));
        };
    }

    private static long[] shape(String text) {
        return text.isEmpty()
                ? new long[0]
                : Arrays.stream(text.split(",", -1)).mapToLong(Long::parseLong).toArray();
    }
}
