/**
 * What changes on a screen while one looks: {@link dev.larder.command.terminal.ProgressDisplay progress}, and what
 * {@code larder top} shows.
 */
@NullMarked
package dev.larder.command.terminal;

import org.jspecify.annotations.NullMarked;
