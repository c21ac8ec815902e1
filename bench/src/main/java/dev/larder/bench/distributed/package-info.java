/** Measures the objects that ranks share: collectives, shared arrays, queues of handles. */
@NullMarked
package dev.larder.bench.distributed;

import org.jspecify.annotations.NullMarked;
