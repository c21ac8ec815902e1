/**
 * Cuts arrays and columns of sources down to the rows that one node has: start at {@link dev.larder.server.source.shard.ShardCut}.
 * What follows the rows, such as offsets and indexes, is made anew for those; what of the whole no node has is known by its checksum.
 */
@NullMarked
package dev.larder.server.source.shard;

import org.jspecify.annotations.NullMarked;
