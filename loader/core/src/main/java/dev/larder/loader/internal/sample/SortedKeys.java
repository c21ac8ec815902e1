package dev.larder.loader.internal.sample;

/** Sorts places by their keys; does not move the keys. */
public final class SortedKeys {
    private static final int SHORT_RUN = 12;

    private SortedKeys() {}

    /** Returns the places in the order of their keys; the sort is stable, and NaN comes last. */
    public static int[] places(double[] keys) {
        int[] places = new int[keys.length];
        for (int start = 0; start < places.length; start += SHORT_RUN) {
            insert(places, start, Math.min(places.length, start + SHORT_RUN), keys);
        }
        int[] merged = new int[places.length];
        for (long run = SHORT_RUN; run < keys.length; run *= 2) {
            OrderThread.requireWanted(0);
            for (long start = 0; start < keys.length; start += 2 * run) {
                int middle = (int) Math.min(keys.length, start + run);
                int end = (int) Math.min(keys.length, start + 2 * run);
                merge(places, (int) start, middle, end, merged, keys);
            }
            int[] spare = places;
            places = merged;
            merged = spare;
        }
        return places;
    }

    private static void insert(int[] places, int start, int end, double[] keys) {
        for (int i = start; i < end; i++) {
            int at = i;
            while (at > start && Double.compare(keys[i], keys[places[at - 1]]) < 0) {
                places[at] = places[at - 1];
                at--;
            }
            places[at] = i;
        }
    }

    private static void merge(int[] from, int start, int middle, int end, int[] to, double[] keys) {
        int left = start;
        int right = middle;
        for (int at = start; at < end; at++) {
            boolean takesLeft =
                    right == end || (left < middle && Double.compare(keys[from[left]], keys[from[right]]) <= 0);
            to[at] = takesLeft ? from[left++] : from[right++];
        }
    }
}
