/** What {@code larder launch} takes, shows and does on a signal; {@code dev.larder.launch} starts the ranks. */
@NullMarked
package dev.larder.command.launch;

import org.jspecify.annotations.NullMarked;
