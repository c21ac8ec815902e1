/**
 * Meetings of the ranks of a run: start at
 * {@link dev.larder.distributed.rendezvous.Rendezvous}.
 */
@NullMarked
package dev.larder.distributed.rendezvous;

import org.jspecify.annotations.NullMarked;
