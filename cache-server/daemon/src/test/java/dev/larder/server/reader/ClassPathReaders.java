package dev.larder.server.reader;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import dev.larder.readers.http.HttpReader;
import dev.larder.readers.packed.PackedReader;
import dev.larder.testing.InstalledReaders;
import java.util.List;
import org.tukaani.xz.XZInputStream;

/** The properties of readers that lie on the class path of the tests. */
public final class ClassPathReaders {
    private static final String QUICK = "flags=-XX:TieredStopAtLevel=1";

    private ClassPathReaders() {}

    /** Returns those of the reader that unpacks. */
    public static List<String> packed() {
        return List.of(
                "as=files,stretches",
                InstalledReaders.classPath(PackedReader.class, ZstdInputStreamNoFinalizer.class, XZInputStream.class));
    }

    /** Returns those of the reader of HDF5. */
    public static List<String> hdf5() {
        return List.of(
                "names=(?<stem>.+)\\\\.h5",
                QUICK,
                InstalledReaders.classPath(
                        ".*/(jhdf|commons-lang3|compress-lzf|lz4-java|slf4j-api)-.*jar|.*[/-]hdf5([/-].*)?"));
    }

    /** Returns those of the reader of Zarr. */
    public static List<String> zarr() {
        return List.of(
                "names=(?<stem>.+)\\\\.zarr",
                "folders=true",
                QUICK,
                InstalledReaders.classPath(".*/(lz4-java|zstd-jni|gson)-.*jar|.*[/-]zarr([/-].*)?"));
    }

    /** Returns those of the reader of web servers. */
    public static List<String> http() {
        return List.of("schemes=http,https", "as=none", QUICK, InstalledReaders.classPath(HttpReader.class));
    }
}
