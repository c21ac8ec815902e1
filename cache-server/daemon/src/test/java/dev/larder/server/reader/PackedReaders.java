package dev.larder.server.reader;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import dev.larder.readers.packed.PackedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.tukaani.xz.XZInputStream;

/** Installs the reader that unpacks, as it lies on the class path of the tests. */
public final class PackedReaders {
    private PackedReaders() {}

    /** Puts it into a folder of readers. */
    public static void installIn(Path readers) throws IOException {
        String classPath = Stream.of(PackedReader.class, ZstdInputStreamNoFinalizer.class, XZInputStream.class)
                .map(type -> CodeSources.of(type).toString())
                .collect(Collectors.joining(":"));
        Files.writeString(
                Files.createDirectory(readers.resolve("packed")).resolve("reader.properties"),
                "as=files,stretches\nclasspath=" + classPath + "\n");
    }
}
