package dev.larder.server.store;

import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.PageSize;
import dev.larder.server.store.space.Mount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The method of writing segments; decisions 9 and 36 have the figures. */
enum WriteStrategy {
    /** Reads directly into the mapped segment: best if the mount gives huge pages, because only a mapping populates them in one step. */
    MAPPED,
    /**
     * As {@link #MAPPED}, if the mount gives no huge pages and each one has to be requested. Falls back to {@link #BUFFERED} if the kernel
     * refuses.
     */
    COLLAPSED,
    /** Reads into a buffer that stays in cache, and writes it: best on small pages and on disks. */
    BUFFERED;

    private static final Path SHARED_HUGE_PAGES = Path.of("/sys/kernel/mm/transparent_hugepage/shmem_enabled");

    /** Chooses the strategy for the mount of a folder. */
    static WriteStrategy of(Path folder, BulkIo io) {
        Optional<Mount> mount = Mount.of(folder).filter(Mount::isTmpfs);
        if (mount.isEmpty() || !io.canPopulate() || areDenied()) {
            return BUFFERED;
        }
        if (mount.get().hasHugePages()) {
            return MAPPED;
        }
        return PageSize.hugeBytes() == PageSize.HUGE_BYTES ? COLLAPSED : BUFFERED;
    }

    /** Returns whether the machine denies huge pages to every mount. */
    private static boolean areDenied() {
        try {
            return Files.readString(SHARED_HUGE_PAGES).contains("[deny]");
        } catch (IOException e) {
            return false;
        }
    }
}
