package dev.larder.rows;

import dev.larder.internal.layout.Names;
import dev.larder.npy.Dtype;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * Specifies computed rows that the store keeps; see {@link dev.larder.client.Dataset#rows}. Immutable: every method returns another
 * specification.
 *
 * <pre>{@code
 * RowsSpec.of("decoded", "image").row("|u1", 224, 224, 3).version("libjpeg 1")
 * }</pre>
 *
 * @param name a name for people, such as {@code decoded}
 * @param arrays the source arrays and columns of the dataset, which have equally many rows
 * @param dtype the type of the elements
 * @param shape the dimensions of one row
 * @param steps the transforms or the version of the code, a part of the key
 * @param patience how long to wait for a row that another process has claimed
 */
public record RowsSpec(
        String name, List<String> arrays, Dtype dtype, List<Long> shape, String steps, Duration patience) {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** Refuses an impossible specification. */
    public RowsSpec {
        Names.requireDataset(name);
        arrays = List.copyOf(arrays);
        shape = List.copyOf(shape);
        if (arrays.isEmpty()) {
            throw new IllegalArgumentException("computed rows have no source arrays: rows=" + name);
        }
        if (shape.stream().anyMatch(size -> size < 0)) {
            throw new IllegalArgumentException("a dimension is negative: shape=" + shape);
        }
        if (patience.isNegative()) {
            throw new IllegalArgumentException("patience is negative: patience=" + patience);
        }
    }

    /** Names the rows and their source arrays. A row is one {@code |u1} until {@link #row(String, long...)}. */
    public static RowsSpec of(String name, String... arrays) {
        return new RowsSpec(name, List.of(arrays), Dtype.parse("|u1"), List.of(), "", PATIENCE);
    }

    /** Sets the type and the dimensions of a row. */
    public RowsSpec row(Dtype newDtype, long... newShape) {
        List<Long> sizes = Arrays.stream(newShape).boxed().toList();
        return new RowsSpec(name, arrays, newDtype, sizes, steps, patience);
    }

    /** Sets the type of a row's elements, in numpy's form, and its dimensions. */
    public RowsSpec row(String descr, long... newShape) {
        return row(Dtype.parse(descr), newShape);
    }

    /**
     * Sets the version of the code that computes the rows. Another version computes other rows, in a region of their own. The
     * version must cover everything that the code reads, including values captured by a lambda, because nothing else
     * distinguishes two such lambdas. Python's {@code larder.rows} shares the rows if it has the same version, arrays, dtype
     * and shape, and its function captures no values.
     */
    public RowsSpec version(String version) {
        return steps("version " + version);
    }

    /** Sets the transforms as data: the text of each step. */
    public RowsSpec steps(String newSteps) {
        return new RowsSpec(name, arrays, dtype, shape, newSteps, patience);
    }

    /**
     * Sets how long a reader waits for a row that another process has claimed, before it computes the row itself; 10 s by
     * default. A reader waits that long only for a stopped process or a slow row, because a claim ends when its process dies.
     * The patience does not identify the rows: rows that a dataset has open keep theirs; see
     * {@link dev.larder.client.ComputedRows#reader( RowComputation, Duration)}.
     */
    public RowsSpec patience(Duration newPatience) {
        return new RowsSpec(name, arrays, dtype, shape, steps, newPatience);
    }
}
