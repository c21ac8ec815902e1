/**
 * What the calls of a process group rest on: its memory and the places in it, why it is broken, the thread and the processors that a
 * rank has. Knows nothing of what calls do.
 */
@NullMarked
package dev.larder.distributed.internal;

import org.jspecify.annotations.NullMarked;
