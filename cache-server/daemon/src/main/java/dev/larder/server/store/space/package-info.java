/** The space of a store: mount, memory nodes, reservations, and the space that files occupy. */
@NullMarked
package dev.larder.server.store.space;

import org.jspecify.annotations.NullMarked;
