/**
 * Queues of handles, by which processes transfer shared memory without copying it. Start at {@link
 * dev.larder.distributed.queue.HandleQueue}.
 */
@NullMarked
package dev.larder.distributed.queue;

import org.jspecify.annotations.NullMarked;
