/**
 * Arrays that their files have in chunks, as HDF5 and Zarr do: {@link dev.larder.reader.chunks.ChunkGrid} and
 * {@link dev.larder.reader.chunks.RowBlocks} put them together.
 */
@NullMarked
package dev.larder.reader.chunks;

import org.jspecify.annotations.NullMarked;
