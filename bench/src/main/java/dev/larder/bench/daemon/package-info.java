/** Measures loads and restarts of the daemon, and feeds it broken messages. */
@NullMarked
package dev.larder.bench.daemon;

import org.jspecify.annotations.NullMarked;
