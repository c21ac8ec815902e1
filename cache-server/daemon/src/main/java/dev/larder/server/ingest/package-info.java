/** From sources to published versions: {@link dev.larder.server.ingest.Loads} starts a {@link dev.larder.server.ingest.LoadJob}. */
@NullMarked
package dev.larder.server.ingest;

import org.jspecify.annotations.NullMarked;
