/** Gives stress tests access to leases, which trainers do not see. */
@NullMarked
package dev.larder.client;

import org.jspecify.annotations.NullMarked;
