/** The journal, the display and the results of {@code larder grid}; see {@link dev.larder.command.grid.GridJournal}. */
@NullMarked
package dev.larder.command.grid;

import org.jspecify.annotations.NullMarked;
