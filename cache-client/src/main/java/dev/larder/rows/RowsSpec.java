package dev.larder.rows;

import dev.larder.internal.layout.Names;
import dev.larder.npy.Dtype;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * Says which rows to keep in the store once they are computed; see {@link dev.larder.client.Dataset#rows}. Immutable: every method returns another.
 *
 * <pre>{@code
 * RowsSpec.of("decoded", "image").row("|u1", 224, 224, 3).version("libjpeg 1")
 * }</pre>
 *
 * @param name what people call them, such as {@code decoded}
 * @param arrays the arrays and columns of the dataset that a row is made of; they have equally many rows
 * @param dtype the type of the elements
 * @param shape the dimensions of one row
 * @param steps what makes them what they are: a part of the key
 * @param patience how long to wait for a row that another process has claimed
 */
public record RowsSpec(
        String name, List<String> arrays, Dtype dtype, List<Long> shape, String steps, Duration patience) {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** Refuses what no rows can be. */
    public RowsSpec {
        Names.requireDataset(name);
        arrays = List.copyOf(arrays);
        shape = List.copyOf(shape);
        if (arrays.isEmpty()) {
            throw new IllegalArgumentException("name the arrays that rows are made of: rows=" + name);
        }
        if (shape.stream().anyMatch(size -> size < 0)) {
            throw new IllegalArgumentException("a dimension is negative: shape=" + shape);
        }
        if (patience.isNegative()) {
            throw new IllegalArgumentException("patience is negative: patience=" + patience);
        }
    }

    /** Names rows and what they are made of; a row is one {@code |u1} until {@link #row(String, long...)}. */
    public static RowsSpec of(String name, String... arrays) {
        return new RowsSpec(name, List.of(arrays), Dtype.parse("|u1"), List.of(), "", PATIENCE);
    }

    /** Sets the type and the dimensions of a row. */
    public RowsSpec row(Dtype newDtype, long... newShape) {
        List<Long> sizes = Arrays.stream(newShape).boxed().toList();
        return new RowsSpec(name, arrays, newDtype, sizes, steps, patience);
    }

    /** Sets the type of a row's elements, as numpy writes it, and its dimensions. */
    public RowsSpec row(String descr, long... newShape) {
        return row(Dtype.parse(descr), newShape);
    }

    /**
     * Sets the version of the code that computes them: another version makes other rows, in a region of their own. It stands for all that
     * the code reads: values that a lambda captures belong into it, too, as nothing else can tell two such lambdas apart. Python's
     * {@code larder.rows} with the same version, arrays, dtype and shape has the same rows, if its function is bound to no values.
     */
    public RowsSpec version(String version) {
        return steps("version " + version);
    }

    /** Says what is done to them, where that is data: the text of each step. */
    public RowsSpec steps(String newSteps) {
        return new RowsSpec(name, arrays, dtype, shape, newSteps, patience);
    }

    /**
     * Sets how long to wait for a row that another process has claimed, before computing it for oneself; 10 s by default. Only a
     * process that was stopped, or whose row takes longer, is waited for in vain: where it dies its claim is free at once. It is no
     * part of what rows are: those that a dataset has open already keep theirs; see {@link dev.larder.client.ComputedRows#reader(
     * RowComputation, Duration)}.
     */
    public RowsSpec patience(Duration newPatience) {
        return new RowsSpec(name, arrays, dtype, shape, steps, newPatience);
    }
}
