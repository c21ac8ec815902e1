/** The {@code flock}s of daemons on stores and of clients on versions, and the kernel's table that names the holders. */
@NullMarked
package dev.larder.server.store.lock;

import org.jspecify.annotations.NullMarked;
