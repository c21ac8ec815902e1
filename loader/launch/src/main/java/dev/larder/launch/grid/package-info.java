/**
 * Grids of independent jobs: {@link dev.larder.launch.grid.GridPlan} says what they are, {@link
 * dev.larder.launch.grid.GridRun} runs them over devices.
 */
@NullMarked
package dev.larder.launch.grid;

import org.jspecify.annotations.NullMarked;
