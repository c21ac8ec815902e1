/**
 * Arguments that commands share: names, sources, and {@link dev.larder.command.options.LoadArguments options of loads}.
 */
@NullMarked
package dev.larder.command.options;

import org.jspecify.annotations.NullMarked;
