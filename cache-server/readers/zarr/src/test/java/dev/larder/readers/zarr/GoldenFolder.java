package dev.larder.readers.zarr;

import dev.larder.reader.InputFile;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.testing.ReadArrays;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** A golden folder of Zarr, unpacked, that tests may change. */
record GoldenFolder(Path path) {
    private static final Path GOLDEN = Path.of("src/test/resources/golden");
    private static final Set<String> METADATA = Set.of("zarr.json", ".zarray", ".zgroup", ".zmetadata");

    /** Unpacks a folder: the metadata of its root, and some arrays or groups; all if none is named. */
    static GoldenFolder unpack(String name, Path into, String... wanted) throws IOException {
        Path folder = Files.createDirectories(into.resolve(name + ".zarr"));
        try (ZipFile zip = new ZipFile(GOLDEN.resolve(name + ".zip").toFile())) {
            for (ZipEntry entry : zip.stream().toList()) {
                String file = entry.getName();
                if (wanted.length == 0
                        || !file.contains("/")
                        || Stream.of(wanted).anyMatch(each -> file.startsWith(each + "/"))) {
                    Path target = folder.resolve(file);
                    Files.createDirectories(target.resolveSibling(""));
                    Files.copy(zip.getInputStream(entry), target);
                }
            }
        }
        return new GoldenFolder(folder);
    }

    /** Returns all files. */
    List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(path)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    Path file(String name) {
        return path.resolve(name);
    }

    void change(String file, String text, String other) throws IOException {
        String before = Files.readString(file(file));
        if (!before.contains(text)) {
            throw new IllegalArgumentException("file=" + file + " has no " + text + ": " + before);
        }
        Files.writeString(file(file), before.replace(text, other), StandardCharsets.UTF_8);
    }

    /** Returns the request of the daemon: each file has the level of the nearest folder with metadata. */
    ReadRequest request(String... columns) throws IOException {
        List<InputFile> inputs = new ArrayList<>();
        for (Path file : files()) {
            Path folder = Objects.requireNonNull(file.getParent());
            while (!folder.equals(path)
                    && METADATA.stream().map(folder::resolve).noneMatch(Files::exists)) {
                folder = Objects.requireNonNull(folder.getParent());
            }
            String level = path.relativize(folder) + "/";
            inputs.add(new InputFile(file, level.equals("/") ? "" : level));
        }
        return new ReadRequest(inputs, "arrays", List.of(columns), 2);
    }

    Map<String, ReadArrays.Read> read(String... columns) throws IOException {
        return ReadArrays.of(new ZarrReader(), request(columns));
    }
}
