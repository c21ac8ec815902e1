package dev.larder.distributed.region;

/** How processes come by the memory of a region, as {@code torch.multiprocessing} calls it. */
public enum SharingStrategy {
    /** A file of the store: people see it, and whoever removes files of others there takes it from those who come later. */
    FILE,

    /**
     * Sealed memory without a name, handed out by the daemon: nobody can truncate it or find it to remove it, and it goes with the
     * last process that has it. After the end of the daemon nobody else can open it.
     */
    MEMFD
}
