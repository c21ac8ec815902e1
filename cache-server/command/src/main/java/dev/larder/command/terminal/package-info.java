/**
 * Live output: {@link dev.larder.command.terminal.ProgressDisplay progress}, and the screen of {@code larder top}.
 */
@NullMarked
package dev.larder.command.terminal;

import org.jspecify.annotations.NullMarked;
