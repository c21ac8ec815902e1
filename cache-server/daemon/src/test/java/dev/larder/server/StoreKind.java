package dev.larder.server;

import dev.larder.testing.TinyTmpfs;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The file systems that a store may be on. */
enum StoreKind {
    /** Where stores are without a mount of their own: in shared memory, or on a disk in a container. Needs no root. */
    USUAL(null),
    TMPFS_NEVER(size -> TinyTmpfs.mount("huge=never,size=" + size)),
    TMPFS_ADVISE(size -> TinyTmpfs.mount("huge=advise,size=" + size)),
    TMPFS_WITHIN_SIZE(size -> TinyTmpfs.mount("huge=within_size,size=" + size)),
    TMPFS_ALWAYS(size -> TinyTmpfs.mount("huge=always,size=" + size)),
    EXT4(size -> TinyTmpfs.ext4("size=" + size)),
    OVERLAY(size -> TinyTmpfs.overlay("size=" + size));

    private final @Nullable Function<String, TinyTmpfs> mounting;

    StoreKind(@Nullable Function<String, TinyTmpfs> mounting) {
        this.mounting = mounting;
    }

    /** Mounts one of this size, with further options; null if this kind needs no mount. */
    @Nullable
    TinyTmpfs mount(String size) {
        return mounting == null ? null : mounting.apply(size);
    }

    boolean isTmpfs() {
        return name().startsWith("TMPFS");
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
