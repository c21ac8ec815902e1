package dev.larder.loader.internal.field;

import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import dev.larder.loader.transform.Transforms;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The steps of a field, parted where rows of any length become rows of one shape, or of lengths of their own. */
record RowSteps(Transform before, @Nullable Step maker, Transform after) {
    static RowSteps of(@Nullable Transform transform) {
        List<Step> steps = transform == null ? List.of() : transform.steps();
        for (int i = 0; i < steps.size(); i++) {
            if (makesRows(steps.get(i))) {
                return new RowSteps(
                        new Transform(steps.subList(0, i)),
                        steps.get(i),
                        new Transform(steps.subList(i + 1, steps.size())));
            }
        }
        return new RowSteps(transform == null ? Transforms.none() : transform, null, Transforms.none());
    }

    /** Tells whether a step takes rows of any length. */
    static boolean makesRows(Step step) {
        return step instanceof Step.MapRow || step instanceof Step.Decode;
    }

    /** Returns what comes before the steps after the one that makes rows. */
    SampleTransform.Before counts() {
        long moves = before.steps().stream()
                .filter(step -> step instanceof Step.RandomCrop || step instanceof Step.RandomFlip)
                .count();
        long maps = before.steps().stream()
                .filter(step -> step instanceof Step.MapFloats || step instanceof Step.MapBytes)
                .count();
        return new SampleTransform.Before((int) moves, (int) maps);
    }
}
