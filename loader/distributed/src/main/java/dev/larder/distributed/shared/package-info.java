/**
 * Arrays that several processes write, unlike datasets, which are read-only. Start at {@link dev.larder.distributed.shared.SharedArray}.
 */
@NullMarked
package dev.larder.distributed.shared;

import org.jspecify.annotations.NullMarked;
