package dev.larder.server.source;

import dev.larder.npy.NpyHeader;

/**
 * One array that a file has, checked, its data not yet read.
 *
 * @param name what the file calls it; empty where the file is one array
 */
record Member(String name, NpyHeader header, ArrayData data) {}
