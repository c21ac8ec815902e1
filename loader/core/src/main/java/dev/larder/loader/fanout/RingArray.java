package dev.larder.loader.fanout;

import dev.larder.npy.Dtype;

/** The name and dtype of one array, the same for all batches of a ring. */
record RingArray(String name, Dtype dtype) {}
