package dev.larder.bench.gpu;

import java.util.HashMap;
import java.util.Map;

/** What the machine showed to be possible, for the parts that come after; in gigabytes in a second, not a number where unknown. */
final class Limits {
    /** Reading and writing within the device. */
    double copy = Double.NaN;

    /** Uploads of what a large batch has. */
    double upload = Double.NaN;

    /** Gathering rows on the host with all threads, by the bytes of a row. */
    final Map<Integer, Double> gather = new HashMap<>();
}
