package dev.larder.server.source.formats;

/**
 * One member of a ZIP archive.
 *
 * @param name what the archive calls it
 * @param isDeflated whether it is packed; else its bytes lie there as they are
 * @param headerOffset where its local header starts
 * @param offset where its bytes start
 * @param packedBytes how many bytes it takes in the archive
 * @param byteSize how many bytes it is
 * @param crc32 the checksum of those
 */
record ZipMember(
        String name, boolean isDeflated, long headerOffset, long offset, long packedBytes, long byteSize, long crc32) {}
