/** The program that started this one, and the one that this one becomes. */
@NullMarked
package dev.larder.command.program;

import org.jspecify.annotations.NullMarked;
