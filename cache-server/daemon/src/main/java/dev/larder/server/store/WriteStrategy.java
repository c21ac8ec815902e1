package dev.larder.server.store;

import dev.larder.internal.posix.BulkIo;
import dev.larder.server.store.space.Mount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** How the bytes of segments get to where they belong; decisions 9 and 36 have the figures. */
enum WriteStrategy {
    /** Reads straight into the mapped segment: best where the mount gives huge pages, which only a mapping populates at once. */
    MAPPED,
    /** The same where the mount gives none, so that each huge page is asked for; as {@link #BUFFERED} where the kernel refuses. */
    COLLAPSED,
    /** Reads into a buffer that stays in cache, and writes it: best on small pages and on disks. */
    BUFFERED;

    private static final Path SHARED_HUGE_PAGES = Path.of("/sys/kernel/mm/transparent_hugepage/shmem_enabled");

    /** Chooses for the mount that a folder lies on. */
    static WriteStrategy of(Path folder, BulkIo io) {
        Optional<Mount> mount = Mount.of(folder).filter(Mount::isTmpfs);
        if (mount.isEmpty() || !io.canPopulate() || areDenied()) {
            return BUFFERED;
        }
        return mount.get().hasHugePages() ? MAPPED : COLLAPSED;
    }

    /** Tells whether the whole machine goes without, whatever its mounts say. */
    private static boolean areDenied() {
        try {
            return Files.readString(SHARED_HUGE_PAGES).contains("[deny]");
        } catch (IOException e) {
            return false;
        }
    }
}
