/**
 * The files of a store as the daemon owns them: {@link dev.larder.server.store.Store} holds the lock, writes, publishes, retires and
 * removes versions. Three packages below do not depend on it: descriptions of versions, space, and locks.
 */
@NullMarked
package dev.larder.server.store;

import org.jspecify.annotations.NullMarked;
