/** How long to wait, and how often to look: start at {@link dev.larder.time.Deadline}. For Larder's own modules, not for trainers. */
@NullMarked
package dev.larder.time;

import org.jspecify.annotations.NullMarked;
