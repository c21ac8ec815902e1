package dev.larder.loader.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.npy.Dtype;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class StepTest {
    private static final Dtype BYTE = Dtype.parse("|u1");

    private static final List<Step> DETERMINISTIC = List.of(
            new Step.ToFloat(),
            new Step.Cast(BYTE),
            new Step.Scale(1, 0),
            new Step.Normalize(List.of(0f), List.of(1f)),
            new Step.ToBfloat16(),
            new Step.FromBfloat16(),
            new Step.CenterCrop(1, 1),
            new Step.Flip(),
            new Step.ChannelsFirst(),
            new Step.OneHot(2),
            new Step.MapFloats((values, shape, random) -> {}),
            new Step.MapBytes(BYTE, List.of(), (row, result, random) -> {}),
            new Step.MapRow(BYTE, List.of(), false, false, (row, result, random) -> 0),
            new Step.Decode(Colours.RGB, DecodeSize.SCALED, 1, JpegDecoder.AUTO),
            new Step.Resize(1, 1, Resampling.BOX),
            new Step.ResizeShorter(1, Resampling.BOX));

    private static final List<Step> RANDOM = List.of(
            new Step.RandomCrop(1, 1, 0),
            new Step.RandomFlip(0.5f),
            new Step.MapRow(BYTE, List.of(), false, true, (row, result, random) -> 0),
            new Step.RandomResizedCrop(1, 1, 1, 1, 1, 1, Resampling.BOX),
            new Step.ColourJitter(1, 1, 1, 0));

    @Test
    void everyStepSaysWhetherItIsRandom() {
        Set<Class<?>> asked = Stream.concat(DETERMINISTIC.stream(), RANDOM.stream())
                .map(Object::getClass)
                .collect(Collectors.toSet());

        assertThat(Arrays.asList(Step.class.getPermittedSubclasses())).containsExactlyInAnyOrderElementsOf(asked);
        assertThat(DETERMINISTIC).noneMatch(Step::isRandom);
        assertThat(RANDOM).allMatch(Step::isRandom);
    }
}
