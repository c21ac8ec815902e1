package dev.larder.loader;

import dev.larder.loader.device.HostAllocator;
import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Loader} works with.
 *
 * @param samples how many samples slots have room for, at first at least
 * @param slots how many batches are filled ahead or open
 */
record LoaderSettings(
        int samples,
        int threads,
        int slots,
        LoaderBuilder.Delivery delivery,
        boolean inOrder,
        FailurePolicy onFailure,
        @Nullable PrintStream progress,
        HostAllocator allocator) {}
