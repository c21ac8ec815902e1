/**
 * Observation of the daemon: {@link dev.larder.server.metrics.Counters}, which other processes may read from the store while it runs, and
 * the {@link dev.larder.server.metrics.ErrorLog}.
 */
@NullMarked
package dev.larder.server.metrics;

import org.jspecify.annotations.NullMarked;
