package dev.larder.server.store;

/** Why a version is removed. */
public enum RemovalReason {
    /** A newer one has taken its place, so that it goes even where it is still pinned. */
    RETIRED,
    /** It goes for good. */
    FORGOTTEN,
    /** Its manifest stays as what it can be loaded from, which takes no space. */
    COMES_BACK
}
