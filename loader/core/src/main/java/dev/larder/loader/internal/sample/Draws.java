package dev.larder.loader.internal.sample;

/** The draw numbers of {@link Philox} for each use. They never change, because saved states depend on them. */
public final class Draws {
    public static final int PERMUTED = -2;
    public static final int WEIGHTED = -4;
    public static final int WEIGHTED_ONCE = -6;
    public static final int STRATIFIED_TIME = -8;
    public static final int STRATIFIED_CLASS = -10;
    public static final int SPLIT = -12;
    public static final int SPLIT_CLASS = -14;
    public static final int BUCKET = -16;
    public static final int BATCHES = -18;
    public static final int WINDOWS = -20;
    public static final int USER = -22;
    public static final int WINDOW_STARTS = -24;
    public static final int MIXED = -26;

    private Draws() {}
}
