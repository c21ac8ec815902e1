/** The daemon: {@link dev.larder.server.Daemon} starts it, and wires store, residency, catalog, ingest and control together. */
@NullMarked
package dev.larder.server;

import org.jspecify.annotations.NullMarked;
