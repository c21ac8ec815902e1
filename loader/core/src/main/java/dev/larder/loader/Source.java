package dev.larder.loader;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.npy.Order;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where batches come from: arrays of one version of a dataset whose rows belong together. */
record Source(Dataset dataset, List<ArrayView> arrays, long rows) {
    /** Takes the named arrays, or all of the dataset where none is named. */
    static Source of(Dataset dataset, List<String> names) {
        List<String> wanted = List.copyOf(names.isEmpty() ? dataset.arrayNames() : names);
        if (new LinkedHashSet<>(wanted).size() < wanted.size()) {
            throw new IllegalArgumentException("an array is named twice: arrays=" + wanted);
        }
        if (wanted.isEmpty()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "dataset has no arrays")
                    .with("dataset", dataset.name())
                    .exception();
        }
        List<ArrayView> arrays = new ArrayList<>();
        for (String name : wanted) {
            arrays.add(withRows(dataset, dataset.array(name)));
        }
        Source source = new Source(dataset, List.copyOf(arrays), arrays.get(0).rows());
        source.requireSameRows();
        return source;
    }

    private static ArrayView withRows(Dataset dataset, ArrayView array) {
        if (array.rank() == 0) {
            throw unfit(dataset, array, "a 0-d array has no rows; leave it out of arrays(…)");
        }
        if (array.rank() > 1 && array.order() == Order.F) {
            throw unfit(dataset, array, "rows of a Fortran-ordered array are not contiguous; save it in C order");
        }
        return array;
    }

    private static RuntimeException unfit(Dataset dataset, ArrayView array, String remedy) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot make batches of this array")
                .with("dataset", dataset.name())
                .with("version", dataset.version())
                .with("array", array.name())
                .remedy(remedy);
    }

    private void requireSameRows() {
        for (ArrayView array : arrays) {
            if (array.rows() != rows) {
                throw failure(ErrorCode.BAD_INPUT, "arrays of one loader differ in rows")
                        .with(arrays.get(0).name(), rows)
                        .with(array.name(), array.rows())
                        .remedy("name arrays with equal first dimensions in arrays(…)");
            }
        }
    }

    /** Starts a failure that names the dataset. */
    Failure failure(ErrorCode code, String what) {
        return Failure.of(code, what).with("dataset", dataset.name()).with("version", dataset.version());
    }

    /** Starts the failure of a stage; its code is that of the cause, or what kind of cause it is. */
    Failure failure(String what, Stage stage, @Nullable Throwable cause) {
        Failure failure = failure(code(cause), what)
                .with("stage", stage)
                .with("thread", Thread.currentThread().getName());
        return cause == null ? failure : failure.with("cause", cause).cause(cause);
    }

    private static ErrorCode code(@Nullable Throwable cause) {
        if (cause instanceof LarderException known) {
            return known.code();
        }
        if (cause instanceof IllegalStateException) {
            return ErrorCode.REFUSED;
        }
        return cause == null || cause instanceof IndexOutOfBoundsException ? ErrorCode.BAD_INPUT : ErrorCode.UNEXPECTED;
    }
}
