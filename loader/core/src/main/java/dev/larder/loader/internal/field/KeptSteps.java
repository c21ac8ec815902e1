package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.ComputedRows;
import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.TransformScratch;
import dev.larder.loader.internal.transform.TransformTarget;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.rows.RowComputation;
import dev.larder.rows.RowsSpec;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a field before the first random one, whose rows are kept, and those after.
 *
 * @param making does the steps that are kept
 * @param rest does the others; null where there are none
 * @param patience how long to wait for a row that another process computes
 */
record KeptSteps(
        String name,
        Making making,
        @Nullable SampleTransform rest,
        ComputedRows rows,
        Duration patience,
        boolean runsUserCode) {
    private static final Duration LONGEST_PATIENCE = Duration.ofSeconds(10);

    /** What makes the rows that are kept. */
    interface Making {
        String column();

        Dtype dtype();

        long[] rowShape();

        /** Returns how many bytes a row is made of, about. */
        long storedByteSize();

        /** Makes what computes rows that are missing, for one thread. */
        RowComputation newComputation();

        /** Returns what decodes images; nothing where there are none. */
        default @Nullable String decoder() {
            return null;
        }
    }

    /** Divides the steps of a field of an array, and opens the rows that are kept. */
    static KeptSteps of(ArrayView array, FieldSpec field, Duration timeout) {
        List<Step> steps = stepsToKeep(field);
        long[] rowShape = Arrays.copyOfRange(array.shape(), 1, array.dimensions());
        SampleTransform first = SampleTransform.compile(new Transform(steps), array.dtype(), rowShape);
        Transform all = Objects.requireNonNull(field.transform());
        SampleTransform rest = steps.size() == all.steps().size()
                ? null
                : SampleTransform.compileRest(all, steps.size(), array.dtype(), rowShape);
        return open(array.dataset(), field, steps, new OfArray(array, first), rest, timeout);
    }

    /** Divides the steps of a field of bytes of which one step makes rows, and opens the rows that are kept. */
    static KeptSteps of(RowBytes source, Dataset dataset, FieldSpec field, Duration timeout) {
        List<Step> steps = stepsToKeep(field);
        RowSteps parts = RowSteps.of(new Transform(steps));
        if (parts.maker() == null) {
            throw notOfOneLength(field);
        }
        MadeRows rows = MadeRows.of(source, parts, field.name(), 0);
        if (rows.isRagged()) {
            throw notOfOneLength(field);
        }
        List<Step> all = Objects.requireNonNull(field.transform()).steps();
        List<Step> others = all.subList(steps.size(), all.size());
        long maps = steps.stream().filter(TransformedReader::isUserCode).count();
        Making making = new OfBytes(rows);
        SampleTransform rest = others.isEmpty()
                ? null
                : SampleTransform.compile(
                        new Transform(others), making.dtype(), making.rowShape(), new SampleTransform.Before(0, (int)
                                maps));
        return open(dataset, field, steps, making, rest, timeout);
    }

    /** Says that rows would differ in length. */
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
        List<Step> all =
                field.transform() == null ? List.of() : field.transform().steps();
        List<Step> steps = all.subList(0, field.stepsToKeep());
        if (steps.isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "no step before the first random one could be kept")
                    .with("field", field.name())
                    .with("steps", all)
                    .remedy("leave computed(…) out: plain rows are in the store already");
        }
        if (kept.version().isEmpty() && steps.stream().anyMatch(TransformedReader::isUserCode)) {
            throw Failure.of(ErrorCode.USAGE, "nothing says which version of your code makes the rows that are kept")
                    .with("field", field.name())
                    .with("steps", steps)
                    .remedy("give one, and another when the code makes other rows: computed(\"" + kept.name()
                            + "\", \"1\")");
        }
        return steps;
    }

    private static KeptSteps open(
            Dataset dataset,
            FieldSpec field,
            List<Step> steps,
            Making making,
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
                .row(making.dtype(), making.rowShape())
                .steps(text)
                .patience(patience);
        ComputedRows rows = dataset.rows(spec);
        // Where all rows are there, the code is not run again, and the consumer may help to gather as it does for plain
        // rows.
        boolean isComputed = rows.published() == rows.rows();
        boolean runsUserCode = Objects.requireNonNull(field.transform()).steps().stream()
                .skip(isComputed ? steps.size() : 0)
                .anyMatch(TransformedReader::isUserCode);
        return new KeptSteps(field.name(), making, rest, rows, patience, runsUserCode);
    }

    /** Transforms rows of an array. */
    private record OfArray(ArrayView array, SampleTransform first) implements Making {
        @Override
        public String column() {
            return array.name();
        }

        @Override
        public Dtype dtype() {
            return first.dtype();
        }

        @Override
        public long[] rowShape() {
            return first.rowShape();
        }

        @Override
        public long storedByteSize() {
            return array.rowByteSize();
        }

        @Override
        public RowComputation newComputation() {
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

    /** Makes rows of bytes, whatever their length. */
    private record OfBytes(MadeRows rows) implements Making {
        @Override
        public String column() {
            return rows.source().column();
        }

        @Override
        public Dtype dtype() {
            return rows.made().dtype();
        }

        @Override
        public long[] rowShape() {
            return rows.made().rowShape();
        }

        @Override
        public long storedByteSize() {
            return rows.source().meanByteSize();
        }

        @Override
        public RowComputation newComputation() {
            byte[] made = new byte[Math.toIntExact(rows.made().rowByteSize())];
            UnsafeBuffer memory = new UnsafeBuffer(made);
            TransformTarget target = TransformTarget.of(ByteBuffer.wrap(made));
            MadeRows.Room room = rows.newRoomWithoutRandom();
            return (row, result) -> {
                rows.makeKept(row, memory, target, room);
                result.put(made);
            };
        }

        @Override
        public @Nullable String decoder() {
            return rows.decoder();
        }
    }
}
