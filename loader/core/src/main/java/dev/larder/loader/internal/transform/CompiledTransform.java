package dev.larder.loader.internal.transform;

import dev.larder.npy.Dtype;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a {@link Compilation}.
 *
 * @param elements the operation on each element, if the transform was compiled for elements
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
        @Nullable ElementOperation elements) {}
