package dev.larder.loader.internal.slot;

import dev.larder.loader.transform.BatchFunction;
import java.util.List;

/**
 * What is done with batches as a whole.
 *
 * @param outputs further arrays, which the function fills
 */
public record Collation(BatchFunction function, List<OutputArray> outputs) {
    /** Copies the list. */
    public Collation {
        outputs = List.copyOf(outputs);
    }
}
