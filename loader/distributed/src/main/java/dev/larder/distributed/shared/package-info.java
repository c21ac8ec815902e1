/**
 * Arrays that processes write together, apart from datasets, which nobody writes. Start at
 * {@link dev.larder.distributed.shared.SharedArray}.
 */
@NullMarked
package dev.larder.distributed.shared;

import org.jspecify.annotations.NullMarked;
