package dev.larder.command;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/**
 * The reader's own files and programs, as the documents name them.
 *
 * @param work the folder in which their commands run
 * @param home the reader's home
 */
record DocumentFixtures(Path work, Path home) {
    private static final Path OPS = Path.of("../../ops").toAbsolutePath().normalize();

    /** What pyarrow and Hugging Face wrote. */
    private static final Path ARROW =
            Path.of("../daemon/src/test/resources/arrow").toAbsolutePath().normalize();

    /** Writes them all. */
    void write() throws IOException {
        program("train.sh", "#!/bin/sh\nexec test -e \"$LARDER_PATH_MNIST\"\n");
        Files.writeString(work.resolve("train.py"), "import os\nprint('rank', os.environ.get('RANK'))\n");
        Files.writeString(
                work.resolve("old.py"),
                "import os\nimport numpy as np\nprint(np.load(os.path.expanduser('~/folder-of-npy/a.npy')).sum())\n");
        Files.writeString(
                work.resolve("surroundings.py"),
                "import numpy as np\ndef compute():\n    return np.arange(12.0)\ndef step(*arrays):\n    assert arrays\n");
        copyPackage(Files.createDirectories(work.resolve("ops/python/larder")));
        jar("train.jar");
        jar("t.jar");
        for (String name : new String[] {"folder-of-npy", "huge", "cold"}) {
            Path folder = Files.createDirectories(home.resolve(name));
            Samples.vector(folder, "a", 1000);
            Samples.vector(folder, "b", 2000);
        }
        Path scans = Files.createDirectories(home.resolve("scans"));
        for (String scene : new String[] {"scene0685_01", "scene0685_02"}) {
            Samples.vector(scans, scene + "_rgb", 300);
            Samples.vector(scans, scene + "_obj_feat", 500);
        }
        Files.writeString(home.resolve("meta.tsv"), "path\tlabel\nscans/1.ply\tchair\nscans/2.ply\ttable\n");
        Path folder = Files.createDirectories(home.resolve("folder"));
        Files.writeString(folder.resolve("1.jpg"), "no picture");
        Files.writeString(folder.resolve("2.jpg"), "no picture either");
        writeImages();
        copyFolder(ARROW.resolve("saved"), home.resolve("reviews"));
        Files.copy(
                ARROW.resolve("one-batch.arrow"), home.resolve("features.arrow"), StandardCopyOption.REPLACE_EXISTING);
    }

    private static void copyFolder(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.sorted().toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }

    /** Writes what begins as images do, in a folder of a class and in an archive. */
    private void writeImages() throws IOException {
        Path photos = Files.createDirectories(home.resolve("photos/cat"));
        Files.write(photos.resolve("1.jpg"), new byte[] {(byte) 0xff, (byte) 0xd8, (byte) 0xff, 0});
        Path shards = Files.createDirectories(home.resolve("shards"));
        try (OutputStream out = Files.newOutputStream(shards.resolve("shard-0000.tar"));
                TarArchiveOutputStream tar = new TarArchiveOutputStream(out)) {
            tar.putArchiveEntry(new TarArchiveEntry(photos.resolve("1.jpg"), "0001.jpg"));
            Files.copy(photos.resolve("1.jpg"), tar);
            tar.closeArchiveEntry();
        }
    }

    private static void copyPackage(Path target) throws IOException {
        try (DirectoryStream<Path> rooms = Files.newDirectoryStream(OPS.resolve("python/larder"), "*.py")) {
            for (Path room : rooms) {
                Files.copy(room, target.resolve(room.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private void program(String name, String text) throws IOException {
        Path file = Files.writeString(work.resolve(name), text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** Writes a jar that runs {@link Trainer}. */
    private void jar(String name) throws IOException {
        Manifest manifest = new Manifest();
        Attributes main = manifest.getMainAttributes();
        main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        main.put(Attributes.Name.MAIN_CLASS, Trainer.class.getName());
        main.put(
                Attributes.Name.CLASS_PATH,
                Trainer.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toString());
        try (OutputStream file = Files.newOutputStream(work.resolve(name));
                JarOutputStream jar = new JarOutputStream(file, manifest)) {
            jar.finish();
        }
    }

    /** A trainer that learns nothing. */
    static final class Trainer {
        private Trainer() {}

        /** Says what it has come to. */
        public static void main(String[] arguments) {
            System.out.println("{\"loss\": 0.5, \"arguments\": " + arguments.length + "}");
        }
    }
}
