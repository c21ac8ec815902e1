/**
 * Grids of independent jobs: {@link dev.larder.distributed.grid.GridPlan} says what they are, {@link
 * dev.larder.distributed.grid.GridRun} runs them over devices.
 */
@NullMarked
package dev.larder.distributed.grid;

import org.jspecify.annotations.NullMarked;
