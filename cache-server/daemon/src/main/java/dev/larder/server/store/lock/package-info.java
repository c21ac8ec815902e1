/**
 * Who owns a store, and who leases its versions: the {@code flock}s of both, and the kernel's table that names their
 * holders.
 */
@NullMarked
package dev.larder.server.store.lock;

import org.jspecify.annotations.NullMarked;
