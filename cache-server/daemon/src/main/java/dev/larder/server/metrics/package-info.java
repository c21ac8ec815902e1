/**
 * What the daemon tells about itself: {@link dev.larder.server.metrics.Counters} that anybody may read from the store while
 * it runs, and the {@link dev.larder.server.metrics.ErrorLog}.
 */
@NullMarked
package dev.larder.server.metrics;

import org.jspecify.annotations.NullMarked;
