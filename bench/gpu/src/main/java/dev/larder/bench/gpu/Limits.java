package dev.larder.bench.gpu;

import java.util.HashMap;
import java.util.Map;

/** The measured limits of the machine in GB/s, for later parts; NaN if unknown. */
final class Limits {
    /** Reading and writing within the device. */
    double copy = Double.NaN;

    /** Uploads as long as a large batch. */
    double upload = Double.NaN;

    /** Gathering rows on the host with all threads, by the row size in bytes. */
    final Map<Integer, Double> gather = new HashMap<>();
}
