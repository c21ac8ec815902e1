package dev.larder.server.store;

/** The reason for removing a version. */
public enum RemovalReason {
    /** A newer one has replaced it. It is removed even if it is still pinned. */
    RETIRED,
    /** It is removed for good. */
    FORGOTTEN,
    /** It can be loaded again: its manifest stays as the record of its sources, which takes no space. */
    EVICTED
}
