/** Threads of the daemon that lease, remove and reserve at the same time. */
@NullMarked
package dev.larder.server.residency;

import org.jspecify.annotations.NullMarked;
