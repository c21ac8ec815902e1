package dev.larder.server.reader;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Installs the reader of HDF5, as it lies on the class path of the tests. */
public final class Hdf5Readers {
    private Hdf5Readers() {}

    /** Puts it into a folder of readers. */
    public static void installIn(Path readers) throws IOException {
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(":"))
                .filter(entry -> entry.matches(
                        ".*/(jhdf|commons-lang3|compress-lzf|lz4-java|slf4j-api)-.*jar|.*[/-]hdf5([/-].*)?"))
                .collect(Collectors.joining(":"));
        Files.writeString(
                Files.createDirectory(readers.resolve("hdf5")).resolve("reader.properties"),
                "names=(?<stem>.+)\\\\.h5\nflags=-XX:TieredStopAtLevel=1\nclasspath=" + classPath + "\n");
    }
}
