/**
 * What {@code larder grid} keeps of a grid ({@link dev.larder.command.grid.GridJournal}), shows of it, and what its jobs came to.
 */
@NullMarked
package dev.larder.command.grid;

import org.jspecify.annotations.NullMarked;
