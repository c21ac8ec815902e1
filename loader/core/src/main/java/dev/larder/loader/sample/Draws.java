package dev.larder.loader.sample;

/** Which draw of {@link Philox} is whose. None changes, ever: orders that were saved half way would go on differently. */
final class Draws {
    static final int PERMUTED = -2;
    static final int WEIGHTED = -4;
    static final int WEIGHTED_ONCE = -6;
    static final int STRATIFIED_TIME = -8;
    static final int STRATIFIED_CLASS = -10;
    static final int SPLIT = -12;
    static final int SPLIT_CLASS = -14;
    static final int BUCKET = -16;
    static final int BATCHES = -18;
    static final int WINDOWS = -20;
    static final int USER = -22;

    private Draws() {}
}
