/** Memory for one batch, and what is said of it: what plans and readers fill, and what batches show. */
@NullMarked
package dev.larder.loader.internal.slot;

import org.jspecify.annotations.NullMarked;
