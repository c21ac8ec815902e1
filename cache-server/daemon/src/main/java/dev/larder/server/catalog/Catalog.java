package dev.larder.server.catalog;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file with the times of last use. A daemon that stops in order and keeps its store writes it, and the next one reads and removes it. It is a
 * Chronicle Map: a key is {@code dataset/version}, its value the time of last use: milliseconds since the epoch, 8 bytes, big-endian.
 */
public final class Catalog {
    /** The file of few entries takes some KB; it may grow to so many times its size. */
    private static final int MAX_BLOAT = 4;

    private static final int HEADER_LENGTH_OFFSET = 8;
    private static final int HEADER_TEXT_OFFSET = 12;
    private static final String HEADER_TEXT = "!net.openhft.chronicle.map.VanillaChronicleMap";
    private static final int HEADER_BYTES = HEADER_TEXT_OFFSET + HEADER_TEXT.length();
    private static final int OWNER_ONLY = 0600;
    private static final Logger LOG = LoggerFactory.getLogger(Catalog.class);

    static {
        // suppresses an advertisement on standard output
        System.setProperty("chronicle.announcer.disable", "true");
    }

    private Catalog() {}

    /** Writes a file for the next daemon. */
    public static void write(Path file, List<CatalogEntry> entries) {
        try {
            Files.deleteIfExists(file);
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            try (ChronicleMap<String, byte[]> map = builder(entries).createPersistedTo(file.toFile())) {
                reserve(file);
                entries.forEach(entry -> map.put(key(entry), value(entry)));
            }
        } catch (IOException | RuntimeException | LinkageError | InternalError failure) {
            removeQuietly(file);
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot write the catalog")
                    .with("file", file)
                    .with("free", Posix.system().space(file.resolveSibling("")).freeBytes())
                    .with("reason", failure)
                    .cause(failure)
                    .remedy("check space and permissions of the store");
        }
    }

    /** Fills the holes of the file: writing into a hole would kill the daemon if the file system is full. */
    private static void reserve(Path file) throws IOException {
        Posix posix = Posix.system();
        int descriptor = posix.openOrCreate(file, OWNER_ONLY);
        try {
            posix.reserve(descriptor, 0, Files.size(file));
        } finally {
            posix.close(descriptor);
        }
    }

    /**
     * Reads the entries of the last daemon, and removes the file. Returns none if it did not stop in order or its file is unusable.
     *
     * @param cleanStop whether it stopped in order
     */
    public static List<CatalogEntry> take(Path file, boolean cleanStop) {
        try {
            return cleanStop && hasHeader(file) ? read(file) : List.of();
        } catch (IOException | RuntimeException | LinkageError | InternalError unusable) {
            LOG.info("times of last use start over: file={} reason={}", file, Failure.words(unusable));
            return List.of();
        } finally {
            removeQuietly(file);
        }
    }

    private static List<CatalogEntry> read(Path file) throws IOException {
        List<CatalogEntry> entries = new ArrayList<>();
        try (ChronicleMap<String, byte[]> map = builder(List.of()).createPersistedTo(file.toFile())) {
            map.forEach((key, value) -> entries.add(entry(key, value)));
        }
        return entries;
    }

    /** Removes a file that has been read, or that is unfinished: it takes space, and would look like a catalog at the next start. */
    private static void removeQuietly(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.warn("cannot remove the catalog: file={} reason={}", file, Failure.words(e));
        }
    }

    /**
     * Checks for Chronicle's own header: 8 bytes of checksum, its length without the flag "not ready", its text. For any other content,
     * Chronicle would wait a minute for another process to write the header.
     */
    private static boolean hasHeader(Path file) throws IOException {
        if (!Files.exists(file)) {
            return false;
        }
        try (InputStream in = Files.newInputStream(file)) {
            ByteBuffer header = ByteBuffer.wrap(in.readNBytes(HEADER_BYTES)).order(ByteOrder.LITTLE_ENDIAN);
            return header.limit() == HEADER_BYTES
                    && header.getInt(HEADER_LENGTH_OFFSET) > 0
                    && new String(header.array(), HEADER_TEXT_OFFSET, HEADER_TEXT.length(), StandardCharsets.US_ASCII)
                            .equals(HEADER_TEXT);
        }
    }

    /** Sizes a new file for these entries. For a file that exists, Chronicle takes the sizes from its header. */
    private static ChronicleMapBuilder<String, byte[]> builder(List<CatalogEntry> entries) {
        double keyBytes = entries.stream()
                .mapToInt(entry -> key(entry).getBytes(StandardCharsets.UTF_8).length)
                .average()
                .orElse(1);
        return ChronicleMap.of(String.class, byte[].class)
                .name("larder-catalog")
                .entries(Math.max(1, entries.size()))
                .averageKeySize(keyBytes)
                .averageValueSize(Long.BYTES)
                .maxBloatFactor(MAX_BLOAT)
                .actualSegments(1);
    }

    private static String key(CatalogEntry entry) {
        return entry.dataset() + "/" + entry.version();
    }

    private static byte[] value(CatalogEntry entry) {
        return ByteBuffer.allocate(Long.BYTES).putLong(entry.lastUseEpochMs()).array();
    }

    private static CatalogEntry entry(String key, byte[] value) {
        int slash = key.lastIndexOf('/');
        if (value.length != Long.BYTES) {
            throw new IllegalStateException("an earlier release wrote this: bytes=" + value.length);
        }
        return new CatalogEntry(
                key.substring(0, slash),
                Long.parseLong(key.substring(slash + 1)),
                ByteBuffer.wrap(value).getLong());
    }
}
