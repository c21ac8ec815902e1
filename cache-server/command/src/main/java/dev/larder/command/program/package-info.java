/** The program that started this process, and the program that replaces it. */
@NullMarked
package dev.larder.command.program;

import org.jspecify.annotations.NullMarked;
