/**
 * The files of a store, as the daemon owns them: {@link dev.larder.server.store.Store} holds the lock, builds and publishes
 * versions, retires and removes them. Below it lie three rooms that know nothing of it: what is known of a version, how
 * much space there is, and who holds which lock.
 */
@NullMarked
package dev.larder.server.store;

import org.jspecify.annotations.NullMarked;
