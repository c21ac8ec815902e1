/**
 * How the ranks of a run find each other and learn that all are there: start at
 * {@link dev.larder.distributed.rendezvous.Rendezvous}.
 */
@NullMarked
package dev.larder.distributed.rendezvous;

import org.jspecify.annotations.NullMarked;
