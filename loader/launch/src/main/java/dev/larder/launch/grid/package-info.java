/**
 * Grids of independent jobs: {@link dev.larder.launch.grid.GridPlan} describes them, and {@link
 * dev.larder.launch.grid.GridRun} runs them on devices.
 */
@NullMarked
package dev.larder.launch.grid;

import org.jspecify.annotations.NullMarked;
