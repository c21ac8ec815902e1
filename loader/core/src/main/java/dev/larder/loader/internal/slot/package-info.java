/** The memory and metadata of one batch: plans and readers fill it, batches expose it. */
@NullMarked
package dev.larder.loader.internal.slot;

import org.jspecify.annotations.NullMarked;
