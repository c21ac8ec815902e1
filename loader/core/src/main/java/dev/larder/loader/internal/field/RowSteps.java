package dev.larder.loader.internal.field;

import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a field before and after the one that makes rows of a fixed shape or of other lengths from bytes.
 *
 * @param maker the step that makes rows; null if there is none
 */
record RowSteps(Transform before, @Nullable Step maker, Transform after) {
    static RowSteps of(Transform transform) {
        List<Step> steps = transform.steps();
        for (int i = 0; i < steps.size(); i++) {
            if (makesRows(steps.get(i))) {
                return new RowSteps(
                        new Transform(steps.subList(0, i)),
                        steps.get(i),
                        new Transform(steps.subList(i + 1, steps.size())));
            }
        }
        return new RowSteps(transform, null, new Transform());
    }

    private static boolean makesRows(Step step) {
        return step instanceof Step.MapRow || step instanceof Step.Decode;
    }

    /** Returns whether a step calls a user function. */
    static boolean isUserCode(Step step) {
        return step instanceof Step.MapFloats || step instanceof Step.MapBytes || step instanceof Step.MapRow;
    }

    /** Counts the steps before the one that makes rows, because the steps after it draw different random numbers. */
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
