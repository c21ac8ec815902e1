package dev.larder.distributed.region;

/** The kind of memory of a region, with the names of {@code torch.multiprocessing}. */
public enum SharingStrategy {
    /** A file of the store, which is visible. If a user removes it, later processes cannot open it. */
    FILE,

    /**
     * Sealed memory without a name, from the daemon: no process can truncate or find it, and it is freed with the last process that has it.
     * After the end of the daemon, it cannot be opened any more.
     */
    MEMFD
}
