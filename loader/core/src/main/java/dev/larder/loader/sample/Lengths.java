package dev.larder.loader.sample;

import dev.larder.client.ArrayView;
import dev.larder.client.BytesColumn;
import dev.larder.client.RaggedColumn;
import dev.larder.client.StringsColumn;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.sample.Fingerprint;
import dev.larder.loader.internal.sample.IntegerArrays;
import dev.larder.loader.internal.sample.Requirements;
import java.util.Objects;
import java.util.function.LongUnaryOperator;

/** The length of each row's sample, for batches of samples of similar length. Immutable; takes 4 bytes a row. */
public final class Lengths {
    private final int[] lengths;

    private Lengths(int[] lengths) {
        this.lengths = lengths;
    }

    /** Takes the length of each row. The array is copied. */
    public static Lengths of(int... lengths) {
        return read(lengths.length, row -> lengths[(int) row]);
    }

    /** Takes the length of each row. The array is copied. */
    public static Lengths of(long... lengths) {
        return read(lengths.length, row -> lengths[(int) row]);
    }

    /** Copies the length of each row from a one-dimensional array of integers. The caller may close the view. */
    public static Lengths of(ArrayView lengths) {
        return read(lengths.rows(), IntegerArrays.of(lengths));
    }

    /** Copies the first dimension of each row of a ragged column. The caller may close it. */
    public static Lengths of(RaggedColumn column) {
        if (column.dimensions() == 0) {
            throw Failure.of(ErrorCode.BAD_INPUT, "rows of a ragged column have no dimensions")
                    .with("column", column.name())
                    .remedy("choose a column of one dimension or more");
        }
        return read(column.rows(), row -> column.dimension(row, 0));
    }

    /** Computes the bytes of UTF-8 of each text. The caller may close the column. */
    public static Lengths of(StringsColumn column) {
        return read(column.rows(), column::byteSize);
    }

    /** Computes the bytes of each file. The caller may close the column. */
    public static Lengths of(BytesColumn column) {
        return read(column.rows(), column::byteSize);
    }

    private static Lengths read(long rows, LongUnaryOperator length) {
        int[] lengths = new int[Requirements.arrayLength("lengths", rows)];
        for (int row = 0; row < lengths.length; row++) {
            long value = length.applyAsLong(row);
            if (value < 0 || value > Integer.MAX_VALUE) {
                throw Failure.of(ErrorCode.BAD_INPUT, "length is out of range")
                        .with("row", row)
                        .with("length", value)
                        .with("max", Integer.MAX_VALUE)
                        .exception();
            }
            lengths[row] = (int) value;
        }
        return new Lengths(lengths);
    }

    /** Returns the number of rows. */
    public long rows() {
        return lengths.length;
    }

    /** Returns the length of a row. */
    public int length(long row) {
        return lengths[(int) Objects.checkIndex(row, (long) lengths.length)];
    }

    /** Returns the lengths of a subset's rows. */
    public Lengths over(Subset subset) {
        Requirements.rows(subset.list(), rows());
        return read(subset.size(), place -> length(subset.row(place)));
    }

    String description() {
        return "lengths(rows=" + rows() + " crc32c=" + Fingerprint.of(lengths.length, row -> lengths[row]) + ")";
    }

    @Override
    public String toString() {
        return "Lengths{rows=" + rows() + "}";
    }
}
