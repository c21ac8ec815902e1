package dev.larder.loader.internal.transform;

import dev.larder.npy.Dtype;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@link Compilation} made of a transform.
 *
 * @param elements what is done to each element, where it was compiled for elements
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record CompiledTransform(
        Dtype stored,
        int storedByteSize,
        Dtype dtype,
        long[] rowShape,
        List<Pass> passes,
        List<Move.Drawn> draws,
        int parameterCount,
        boolean isRandom,
        @Nullable ElementOperation elements) {}
