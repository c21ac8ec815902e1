package dev.larder.loader.fanout;

import dev.larder.npy.Dtype;

/** What all batches of a ring have in common of one array. */
record RingArray(String name, Dtype dtype) {}
