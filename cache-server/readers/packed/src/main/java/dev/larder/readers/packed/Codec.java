package dev.larder.readers.packed;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import org.tukaani.xz.XZInputStream;

/** A compression format. */
enum Codec {
    NONE,
    LZ4,
    ZSTD,
    XZ;

    /** The memory limit of XZ in KiB: a dictionary of {@code xz -9} takes 65 MiB. */
    private static final int MOST_XZ_KIB =
            (int) Math.min(Integer.MAX_VALUE, Runtime.getRuntime().maxMemory() / 2 / 1024);

    /** Returns the format of a file by the end of its name. */
    static Codec of(String fileName) {
        String name = fileName.toLowerCase(Locale.ROOT);
        return name.endsWith("xz") ? XZ : name.endsWith("zst") ? ZSTD : NONE;
    }

    /** Returns the unpacked stream; closing it closes the packed one. */
    InputStream unpack(InputStream packed) throws IOException {
        return switch (this) {
            case NONE -> packed;
            case LZ4 -> new Lz4Stream(packed);
            case ZSTD -> new ZstdInputStreamNoFinalizer(packed);
            case XZ -> new XZInputStream(packed, MOST_XZ_KIB);
        };
    }
}
