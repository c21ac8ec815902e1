/**
 * The files of a store, as the daemon owns them: {@link dev.larder.server.store.Store} holds the lock, builds and publishes
 * versions, retires and removes them.
 */
@NullMarked
package dev.larder.server.store;

import org.jspecify.annotations.NullMarked;
