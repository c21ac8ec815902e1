package dev.larder.loader.internal.field;

import dev.larder.client.ComputedRows;
import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.TransformTarget;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import dev.larder.rows.RowComputation;
import dev.larder.rows.RowsSpec;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a field, split at the first random one. The rows that the earlier steps make are kept.
 *
 * @param making does the steps before the split
 * @param rest does the steps after the split; null if there are none
 * @param patience time limit for a row that another process computes
 */
record KeptSteps(
        SampleRows making, @Nullable SampleTransform rest, ComputedRows rows, Duration patience, boolean runsUserCode) {
    private static final Duration LONGEST_PATIENCE = Duration.ofSeconds(10);

    /** Splits the steps of a field and opens the kept rows. */
    static KeptSteps of(SourceRows source, Dataset dataset, FieldSpec field, Duration timeout) {
        List<Step> all = field.transform().steps();
        List<Step> steps = stepsToKeep(field);
        RowSteps parts = RowSteps.of(new Transform(steps));
        SampleRows making;
        SampleTransform rest = null;
        if (source.array() != null && !field.makesRows()) {
            making = EqualRows.of(source, new Transform(steps), 0);
            if (steps.size() < all.size()) {
                rest = SampleTransform.compileRest(field.transform(), steps.size(), source.dtype(), source.shape());
            }
        } else {
            if (parts.maker() == null) {
                throw notOfOneLength(field);
            }
            making = MadeRows.of(source, parts, 0);
            if (making.isRagged()) {
                throw notOfOneLength(field);
            }
            int maps = (int) steps.stream().filter(RowSteps::isUserCode).count();
            if (steps.size() < all.size()) {
                Transform others = new Transform(all.subList(steps.size(), all.size()));
                rest = SampleTransform.compile(
                        others, making.dtype(), making.shape(), new SampleTransform.Before(0, maps));
            }
        }
        return open(dataset, field, steps, making, rest, timeout);
    }

    /** Returns the exception for rows that would differ in length. */
    static LarderException notOfOneLength(FieldSpec field) {
        return Failure.of(ErrorCode.USAGE, "only rows of one length can be kept")
                .with("field", field.name())
                .with("steps", field.transform())
                .remedy(
                        "declare map(dtype, shape, function), or decode(…) and resize(h, w), before the first random step, or"
                                + " leave computed(…) out");
    }

    private static List<Step> stepsToKeep(FieldSpec field) {
        FieldSpec.Kept kept = Objects.requireNonNull(field.kept());
        List<Step> all = field.transform().steps();
        List<Step> steps = all.subList(0, field.stepsToKeep());
        if (steps.isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "no step before the first random one could be kept")
                    .with("field", field.name())
                    .with("steps", all)
                    .remedy("leave computed(…) out: plain rows are in the store already");
        }
        if (kept.version().isEmpty() && steps.stream().anyMatch(RowSteps::isUserCode)) {
            throw Failure.of(ErrorCode.USAGE, "rows made by your code cannot be kept without a version")
                    .with("field", field.name())
                    .with("steps", steps)
                    .remedy("set a version, and change it if the code makes other rows: computed(\"" + kept.name()
                            + "\", \"1\")");
        }
        return steps;
    }

    private static KeptSteps open(
            Dataset dataset,
            FieldSpec field,
            List<Step> steps,
            SampleRows making,
            @Nullable SampleTransform rest,
            Duration timeout) {
        FieldSpec.Kept kept = Objects.requireNonNull(field.kept());
        String text = (field.truncateAt() == Long.MAX_VALUE ? "" : "truncate(" + field.truncateAt() + "); ")
                + steps.stream().map(Step::toString).collect(Collectors.joining("; "))
                + (making.decoder() == null ? "" : "; decoder " + making.decoder())
                + (kept.version().isEmpty() ? "" : "; version " + kept.version());
        Duration fitting = timeout.dividedBy(3);
        Duration patience = Objects.requireNonNullElse(
                kept.patience(), fitting.compareTo(LONGEST_PATIENCE) < 0 ? fitting : LONGEST_PATIENCE);
        RowsSpec spec = RowsSpec.of(kept.name(), making.column())
                .row(making.dtype(), making.shape())
                .steps(text)
                .patience(patience);
        ComputedRows rows = dataset.rows(spec);
        // If all rows are there, the code is not run again, and the consumer may help to gather as it does for plain
        // rows.
        boolean isComputed = rows.published() == rows.rows();
        boolean runsUserCode = field.transform().steps().stream()
                .skip(isComputed ? steps.size() : 0)
                .anyMatch(RowSteps::isUserCode);
        return new KeptSteps(making, rest, rows, patience, runsUserCode);
    }

    /** Returns one thread's access to the rows. It computes missing rows. */
    ComputedRows.Reader newReader() {
        byte[] made = new byte[Math.toIntExact(rows.rowByteSize())];
        UnsafeBuffer memory = new UnsafeBuffer(made);
        TransformTarget target = TransformTarget.of(ByteBuffer.wrap(made));
        Object scratch = making.newKeptScratch();
        RowComputation computation = (row, result) -> {
            making.writeKept(row, memory, target, scratch);
            result.put(made);
        };
        return rows.reader(computation, patience);
    }
}
