package dev.larder.loader.internal.slot;

import dev.larder.loader.transform.BatchFunction;
import java.util.List;

/**
 * A function over whole batches.
 *
 * @param outputs further arrays, which the function fills
 */
public record Collation(BatchFunction function, List<OutputArray> outputs) {
    /** Copies the list. */
    public Collation {
        outputs = List.copyOf(outputs);
    }
}
