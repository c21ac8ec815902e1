package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.sample.Draws;
import dev.larder.loader.internal.sample.IntegerArrays;
import dev.larder.loader.internal.sample.Philox;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The places of the windows of a dataset. All fields of windows share them, so that inputs and targets match.
 * Immutable.
 *
 * <p>A window's span reaches from its place to the end of the field that ends last. If there are borders, a document has as many windows
 * as fit into its length. The remaining rows at its end, and documents shorter than a span, are left out.
 */
final class WindowPlaces {
    private final FieldSpec.Window first;
    private final Documents strided;

    /** All possible places, for random windows. */
    private final Documents anywhere;

    private final long seed;

    private WindowPlaces(FieldSpec.Window first, Documents strided, Documents anywhere, long seed) {
        this.first = first;
        this.strided = strided;
        this.anywhere = anywhere;
        this.seed = seed;
    }

    /**
     * Returns the places for the windows that the fields declare, or null if there are none.
     *
     * @param span the span of a window over the fields of all datasets, in rows
     */
    static @Nullable WindowPlaces of(Dataset dataset, List<FieldSpec> fields, long span, long seed) {
        List<FieldSpec> windows =
                fields.stream().filter(FieldSpec::hasPlacedWindows).toList();
        if (windows.isEmpty()) {
            return null;
        }
        FieldSpec leader = windows.get(0);
        FieldSpec.Window first = window(leader);
        long rows = rows(dataset, leader);
        for (FieldSpec field : windows) {
            requireTogether(dataset, leader, field, rows);
        }
        String borders = first.borders();
        long[] bounds = borders == null ? new long[] {0, rows} : bounds(dataset, dataset.array(borders), leader, rows);
        Documents strided = Documents.of(bounds, span, first.stride());
        if (strided.count() == 0) {
            throw unfit(dataset, "array has no room for a window", leader)
                    .with("rows", rows)
                    .with("span", span)
                    .remedy("choose a shorter window, or leave within(…) out");
        }
        return new WindowPlaces(first, strided, first.random() ? Documents.of(bounds, span, 1) : strided, seed);
    }

    private static FieldSpec.Window window(FieldSpec field) {
        return Objects.requireNonNull(field.window());
    }

    private static long rows(Dataset dataset, FieldSpec field) {
        ArrayView array = dataset.array(field.column());
        return array.dimensions() == 0 ? 0 : array.rows();
    }

    private static void requireTogether(Dataset dataset, FieldSpec leader, FieldSpec field, long rows) {
        if (!window(field).places().equals(window(leader).places())) {
            throw new IllegalArgumentException("windows of one loader begin at the same places: " + leader.name() + "=["
                    + window(leader).places() + "] " + field.name() + "=["
                    + window(field).places()
                    + "]; give them the same stride(…), random() and within(…), and offset(…) where one begins later");
        }
        if (rows(dataset, field) != rows) {
            throw unfit(dataset, "arrays of windows differ in rows", field)
                    .with(leader.column(), rows)
                    .with(field.column(), rows(dataset, field))
                    .remedy("take windows of arrays with equal first dimensions");
        }
    }

    /** Reads the first row of each document and the end of the last one. */
    private static long[] bounds(Dataset dataset, ArrayView borders, FieldSpec field, long rows) {
        LongUnaryOperator offsets = IntegerArrays.of(borders);
        long[] bounds = new long[Math.toIntExact(borders.rows())];
        long before = 0;
        for (int i = 0; i < bounds.length; i++) {
            bounds[i] = offsets.applyAsLong(i);
            if (bounds[i] < before || bounds[i] > rows) {
                throw unfit(dataset, "borders of documents must ascend within the array", field)
                        .with("borders", borders.name())
                        .with("row", i)
                        .with("value", bounds[i])
                        .with("before", before)
                        .with("rows", rows)
                        .remedy("name the offsets of the documents: where each begins, and where the last one ends");
            }
            before = bounds[i];
        }
        return bounds;
    }

    private static Failure unfit(Dataset dataset, String what, FieldSpec field) {
        return Failure.of(ErrorCode.BAD_INPUT, what)
                .with("dataset", dataset.name())
                .with("version", dataset.version())
                .with("array", field.column());
    }

    /** Returns the number of windows in an epoch. */
    private long count() {
        return strided.count();
    }

    /** Returns the place of a window: fixed, or drawn for a position of an epoch. */
    private long start(long window, long epoch, long position) {
        if (!first.random()) {
            return strided.start(window);
        }
        return anywhere.start(Philox.below(Philox.bits(seed, epoch, position, Draws.WINDOW_STARTS), anywhere.count()));
    }

    /** Returns the lookup for a field whose windows begin {@code offset} rows after their places. */
    RowLookup lookup(long offset) {
        return new RowLookup("windows", count(), (window, epoch, position) -> start(window, epoch, position) + offset);
    }

    /**
     * Numbers the places of windows, document by document. Uses 16 bytes for each document.
     *
     * @param bounds the first row of each document, and the end of the last one
     * @param before the number of windows before each document, followed by the total
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Documents(long[] bounds, long[] before, long stride) {
        static Documents of(long[] bounds, long span, long stride) {
            long[] before = new long[Math.max(1, bounds.length)];
            for (int i = 1; i < bounds.length; i++) {
                long length = bounds[i] - bounds[i - 1];
                before[i] = before[i - 1] + (length < span ? 0 : (length - span) / stride + 1);
            }
            return new Documents(bounds, before, stride);
        }

        long count() {
            return before[before.length - 1];
        }

        long start(long window) {
            int place = 0;
            if (before.length > 2) {
                int found = Arrays.binarySearch(before, window);
                place = found < 0 ? -found - 2 : last(found);
            }
            return bounds[place] + (window - before[place]) * stride;
        }

        /** Returns the last document with the same {@code before}: the earlier ones have no windows. */
        private int last(int found) {
            int place = found;
            while (place + 1 < before.length && before[place + 1] == before[place]) {
                place++;
            }
            return place;
        }
    }
}
