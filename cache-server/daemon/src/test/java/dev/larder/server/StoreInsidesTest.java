package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.StoreLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Finds each kind of damage, or no test with {@link StoreMatrix} would say so. */
class StoreInsidesTest {
    @TempDir
    Path sources;

    @ParameterizedTest
    @CsvSource({
        "a wrong byte, bytes are not those that were published",
        "a longer manifest, index and manifest differ",
        "no lease, file is missing",
        "no index, file is missing",
        "a file of a load, left behind",
        "a file beside the index, not of a version",
        "a file that can be written, can be changed",
        "a file in the store, left behind",
        "a file in the dataset, left behind",
        "no link, 'retired, and not leased'",
        "an empty dataset, nobody can open",
        "a dataset set aside, damaged data was set aside",
        "a dataset that is not verified, not verified",
        "a copy of a dataset, the daemon counts other bytes"
    })
    void damageIsFound(String damage, String problem) throws IOException {
        try (ServedStore served = ServedStore.create()) {
            served.start();
            served.load("d", ServedStore.writeInts(sources.resolve("a.npy"), 1, 2, 3));
            assertThat(StoreInsides.problems(served)).isEmpty();

            damage(served.layout(), damage);

            List<String> found = StoreInsides.problems(served);
            assertThat(found).anySatisfy(each -> assertThat(each).contains(problem));
        }
    }

    private static void damage(StoreLayout layout, String kind) throws IOException {
        Path version = layout.version("d", 1);
        Path file = version.resolve("a.npy");
        switch (kind) {
            case "a wrong byte" -> write(file, StoreLayout.DATA_START);
            case "a longer manifest" -> write(version.resolve(StoreLayout.MANIFEST), -1);
            case "no lease" -> Files.delete(version.resolve(StoreLayout.LEASE));
            case "no index" -> Files.delete(version.resolve(StoreLayout.INDEX));
            case "a file of a load" -> Files.createFile(layout.incoming().resolve("7-x"));
            case "a file beside the index" -> Files.createFile(version.resolve("b.npy"));
            case "a file that can be written" ->
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
            case "a file in the store" -> Files.createFile(layout.root().resolve("x"));
            case "a file in the dataset" -> Files.createFile(layout.dataset("d").resolve("next"));
            case "no link" -> Files.delete(layout.current("d"));
            case "an empty dataset" -> Files.createDirectory(layout.dataset("e"));
            case "a dataset set aside" -> Files.move(version, version.resolveSibling("1.damaged"));
            case "a dataset that is not verified" -> Files.move(version, version.resolveSibling("1.unverified"));
            case "a copy of a dataset" -> copy(version, layout.version("e", 1));
            default -> throw new IllegalArgumentException(kind);
        }
    }

    /** Overwrites a byte of a file that nobody may write to, or appends a space. */
    private static void write(Path file, long at) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {' '}), at < 0 ? channel.size() : at);
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--------"));
    }

    private static void copy(Path version, Path other) throws IOException {
        Files.createDirectories(other);
        for (String name : ServedStore.entries(version)) {
            Files.copy(version.resolve(name), other.resolve(name));
        }
        Files.createSymbolicLink(other.resolveSibling(StoreLayout.CURRENT), Path.of("1"));
    }
}
