package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.ComputedRows;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.TransformScratch;
import dev.larder.loader.internal.transform.TransformTarget;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import dev.larder.rows.RowFunction;
import dev.larder.rows.RowsSpec;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a field before the first random one, whose rows are kept, and those after.
 *
 * @param array what the first step reads
 * @param first does the steps that are kept
 * @param rest does the others; null where there are none
 */
record KeptSteps(
        String name,
        ArrayView array,
        SampleTransform first,
        @Nullable SampleTransform rest,
        ComputedRows rows,
        boolean runsUserCode) {
    /** Divides the steps of a field, and opens the rows that are kept. */
    static KeptSteps of(ArrayView array, FieldSpec field) {
        Transform all = Objects.requireNonNullElseGet(field.transform(), () -> new Transform(List.of()));
        FieldSpec.Kept kept = Objects.requireNonNull(field.kept());
        int count = field.stepsToKeep();
        List<Step> steps = all.steps().subList(0, count);
        if (steps.isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "no step before the first random one could be kept")
                    .with("field", field.name())
                    .with("steps", all.steps())
                    .remedy("leave computed(…) out: plain rows are in the store already");
        }
        boolean hasUserCode = steps.stream().anyMatch(KeptSteps::isUserCode);
        if (hasUserCode && kept.version().isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "nothing says which version of your code makes the rows that are kept")
                    .with("field", field.name())
                    .with("steps", steps)
                    .remedy("give one, and another when the code makes other rows: computed(\"" + kept.name()
                            + "\", \"1\")");
        }
        long[] rowShape = Arrays.copyOfRange(array.shape(), 1, array.dimensions());
        SampleTransform first = SampleTransform.compile(new Transform(steps), array.dtype(), rowShape);
        SampleTransform rest =
                count == all.steps().size() ? null : SampleTransform.compileRest(all, count, array.dtype(), rowShape);
        String text = steps.stream().map(Step::toString).collect(Collectors.joining("; "))
                + (kept.version().isEmpty() ? "" : "; version " + kept.version());
        RowsSpec spec = RowsSpec.of(kept.name(), array.name())
                .row(first.dtype(), first.rowShape())
                .steps(text);
        ComputedRows rows = array.dataset().rows(spec);
        // Where all rows are there, the code is not run again, and the consumer may help as it does for plain rows.
        boolean isComputed = rows.published() == rows.rows();
        boolean runsUserCode = all.steps().stream().skip(isComputed ? count : 0).anyMatch(KeptSteps::isUserCode);
        return new KeptSteps(field.name(), array, first, rest, rows, runsUserCode);
    }

    private static boolean isUserCode(Step step) {
        return step instanceof Step.MapFloats || step instanceof Step.MapBytes;
    }

    /** Makes what computes rows that are missing, for one thread. */
    RowFunction newFunction() {
        byte[] stored = new byte[first.storedByteSize()];
        UnsafeBuffer buffer = new UnsafeBuffer(stored);
        byte[] made = new byte[first.rowByteSize()];
        TransformTarget target = TransformTarget.of(ByteBuffer.wrap(made));
        TransformScratch scratch = first.newScratchWithoutRandom();
        long[] one = new long[1];
        return (row, result) -> {
            one[0] = row;
            array.copyRows(one, buffer, 0);
            first.apply(stored, 0, target, 0, 0, 0, row, scratch);
            result.put(made);
        };
    }
}
