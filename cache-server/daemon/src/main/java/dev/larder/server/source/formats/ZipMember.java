package dev.larder.server.source.formats;

/**
 * One member of a ZIP archive.
 *
 * @param headerOffset the offset of its local header
 * @param offset the offset of its bytes
 * @param packedBytes its length in the archive
 * @param byteSize its length after unpacking
 * @param crc32 the checksum of the unpacked bytes
 */
record ZipMember(
        String name, boolean isDeflated, long headerOffset, long offset, long packedBytes, long byteSize, long crc32) {}
