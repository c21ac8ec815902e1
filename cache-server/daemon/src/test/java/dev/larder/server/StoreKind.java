package dev.larder.server;

import dev.larder.testing.TinyTmpfs;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The file systems that a store may be on. */
enum StoreKind {
    /** Where stores are without a mount of their own: in shared memory, or on a disk in a container. Needs no root. */
    USUAL,
    TMPFS_NEVER,
    TMPFS_ADVISE,
    TMPFS_WITHIN_SIZE,
    TMPFS_ALWAYS,
    EXT4,
    OVERLAY;

    /** Mounts one of this size, with further options; null if this kind needs no mount. */
    @Nullable
    TinyTmpfs mount(String size) {
        String options = "size=" + size;
        return switch (this) {
            case USUAL -> null;
            case TMPFS_NEVER -> TinyTmpfs.mount("huge=never," + options);
            case TMPFS_ADVISE -> TinyTmpfs.mount("huge=advise," + options);
            case TMPFS_WITHIN_SIZE -> TinyTmpfs.mount("huge=within_size," + options);
            case TMPFS_ALWAYS -> TinyTmpfs.mount("huge=always," + options);
            case EXT4 -> TinyTmpfs.ext4(options);
            case OVERLAY -> TinyTmpfs.overlay(options);
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
