/**
 * What several commands take on their line: names, sources, and {@link dev.larder.command.options.LoadArguments how
 * they are loaded}.
 */
@NullMarked
package dev.larder.command.options;

import org.jspecify.annotations.NullMarked;
