/**
 * The output of commands: {@link dev.larder.command.output.Table tables}, {@link dev.larder.command.output.Json JSON},
 * sizes and durations; and the rows of both.
 */
@NullMarked
package dev.larder.command.output;

import org.jspecify.annotations.NullMarked;
