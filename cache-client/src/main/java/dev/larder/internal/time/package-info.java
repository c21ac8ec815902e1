/** Deadlines and pauses of waits. Start at {@link dev.larder.internal.time.Deadline}. For Larder's own modules, not for trainers. */
@NullMarked
package dev.larder.internal.time;

import org.jspecify.annotations.NullMarked;
