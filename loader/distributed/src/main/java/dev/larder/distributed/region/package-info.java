/**
 * Regions: named memory that processes of one machine share, created and reclaimed by the daemon. Start at {@link
 * dev.larder.distributed.region.Regions}.
 */
@NullMarked
package dev.larder.distributed.region;

import org.jspecify.annotations.NullMarked;
