/**
 * How much a store may hold: the mount below it and the nodes of memory, what is set aside before it is written, and
 * what files really occupy.
 */
@NullMarked
package dev.larder.server.store.space;

import org.jspecify.annotations.NullMarked;
