/** The options, the output and the signals of {@code larder launch}; {@code dev.larder.launch} starts the ranks. */
@NullMarked
package dev.larder.command.launch;

import org.jspecify.annotations.NullMarked;
