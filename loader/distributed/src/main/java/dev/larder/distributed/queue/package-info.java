/**
 * Queues of handles: processes pass each other what lies in shared memory without copying it. Start at
 * {@link dev.larder.distributed.queue.HandleQueue}.
 */
@NullMarked
package dev.larder.distributed.queue;

import org.jspecify.annotations.NullMarked;
