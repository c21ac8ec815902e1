/**
 * Cuts arrays and columns of sources down to the rows of one node. Start at {@link dev.larder.server.source.shard.ShardCut}. Offsets and indexes are
 * made again for these rows; a checksum of the whole identifies them.
 */
@NullMarked
package dev.larder.server.source.shard;

import org.jspecify.annotations.NullMarked;
