/**
 * The base of the calls of a process group: its memory, its ranks, the reason why it is broken, the thread and the processors of a rank. It
 * is independent of the calls.
 */
@NullMarked
package dev.larder.distributed.internal;

import org.jspecify.annotations.NullMarked;
