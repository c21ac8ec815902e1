/**
 * The {@code larder} command. It starts at {@link dev.larder.command.LarderCommand}; each subcommand is a class of its own,
 * named as it is typed. {@code serve} runs the daemon in this process; the others call a running daemon over its control
 * plane. The packages below are parts of commands; none of them imports a command.
 */
@NullMarked
package dev.larder.command;

import org.jspecify.annotations.NullMarked;
