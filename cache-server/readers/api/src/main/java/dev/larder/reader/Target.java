package dev.larder.reader;

import java.nio.file.Path;

/**
 * A file that the daemon has made for an array, at its full length.
 *
 * @param offer the number of the offer
 * @param path where it lies
 * @param offset where in it the array's bytes begin
 * @param byteSize how long they are
 */
public record Target(int offer, Path path, long offset, long byteSize) {}
