package dev.larder.server.catalog;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
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
import java.util.Optional;
import java.util.function.Supplier;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores entries in a Chronicle Map: it survives a clean stop in one file, and opens without reading it. It is never trusted after an
 * unclean stop, because its own repair is slow and can lose entries. A key is {@code dataset/version}, its value the time of last use:
 * milliseconds since the epoch, 8 bytes, big-endian.
 */
final class ChronicleCatalog implements Catalog {
    /** A catalog full of the longest names still fits, because the map may grow to {@link #MAX_BLOAT} times its size. */
    private static final int AVERAGE_KEY_BYTES = 128;

    private static final int MAX_ENTRIES = 16_384;
    private static final int MAX_BLOAT = 4;

    /** A little more than the file's size for these values. */
    private static final long FILE_BYTES = 4L << 20;

    private static final int HEADER_LENGTH_OFFSET = 8;
    private static final int HEADER_TEXT_OFFSET = 12;
    private static final String HEADER_TEXT = "!net.openhft.chronicle.map.VanillaChronicleMap";
    private static final int HEADER_BYTES = HEADER_TEXT_OFFSET + HEADER_TEXT.length();
    private static final int OWNER_ONLY = 0600;
    private static final Logger LOG = LoggerFactory.getLogger(ChronicleCatalog.class);

    static {
        // suppresses an advertisement on standard output
        System.setProperty("chronicle.announcer.disable", "true");
    }

    private final Path file;
    private final ChronicleMap<String, byte[]> map;

    private ChronicleCatalog(Path file, ChronicleMap<String, byte[]> map) {
        this.file = file;
        this.map = map;
    }

    /** Creates a map in memory, and drops it. */
    static void prepare() {
        try (ChronicleMap<String, byte[]> map = builder(1).create()) {
            map.put("", new byte[1]);
        }
    }

    static Catalog open(Path file, boolean cleanStop) {
        try {
            if (cleanStop && hasHeader(file)) {
                ChronicleCatalog existing = openExisting(file);
                if (existing != null) {
                    return existing;
                }
            }
            Files.deleteIfExists(file);
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            ChronicleCatalog created = new ChronicleCatalog(file, map(file));
            created.reserve();
            return created;
        } catch (IOException | RuntimeException failure) {
            removeQuietly(file, failure);
            long freeBytes = Posix.system().space(file.resolveSibling("")).freeBytes();
            throw Failure.of(
                            freeBytes < FILE_BYTES ? ErrorCode.NO_SPACE : ErrorCode.UNEXPECTED,
                            "cannot open the catalog")
                    .with("file", file)
                    .with("free", freeBytes)
                    .with("reason", failure)
                    .cause(failure)
                    .remedy("check space and permissions of the store");
        }
    }

    /** An unfinished file takes space, and would look like a catalog at the next start. */
    private static void removeQuietly(Path file, Exception failure) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    /** Fills the holes of the file: writing into a hole would kill the daemon if the file system is full. */
    private void reserve() throws IOException {
        Posix posix = Posix.system();
        int descriptor = posix.openOrCreate(file, OWNER_ONLY);
        try {
            posix.reserve(descriptor, 0, Files.size(file));
        } catch (IOException | RuntimeException failure) {
            map.close();
            throw failure;
        } finally {
            posix.close(descriptor);
        }
    }

    @Override
    public synchronized void put(CatalogEntry entry) {
        String key = key(entry.dataset(), entry.version());
        run("put", () -> {
            if (map.longSize() >= MAX_ENTRIES && !map.containsKey(key)) {
                throw Failure.of(ErrorCode.NO_SPACE, "the catalog is full")
                        .with("entries", map.longSize())
                        .remedy("evict datasets that have a source");
            }
            map.put(
                    key,
                    ByteBuffer.allocate(Long.BYTES)
                            .putLong(entry.lastUseEpochMs())
                            .array());
            return true;
        });
    }

    @Override
    public Optional<CatalogEntry> find(String dataset, long version) {
        return run(
                "find",
                () -> Optional.ofNullable(map.get(key(dataset, version)))
                        .map(value -> new CatalogEntry(dataset, version, lastUse(value))));
    }

    @Override
    public synchronized boolean remove(String dataset, long version) {
        return run("remove", () -> map.remove(key(dataset, version)) != null);
    }

    @Override
    public List<CatalogEntry> entries() {
        return run("entries", () -> {
            List<CatalogEntry> entries = new ArrayList<>();
            map.forEach((key, value) -> entries.add(entry(key, value)));
            return entries;
        });
    }

    @Override
    public synchronized boolean touch(String dataset, long version, long epochMs) {
        Optional<CatalogEntry> entry = find(dataset, version);
        entry.ifPresent(found -> put(found.usedAt(epochMs)));
        return entry.isPresent();
    }

    @Override
    public synchronized void close() {
        map.close();
    }

    /** Opens and reads a file of a clean stop; returns null if it is unusable. */
    private static @Nullable ChronicleCatalog openExisting(Path file) {
        ChronicleMap<String, byte[]> map = null;
        try {
            map = map(file);
            ChronicleCatalog catalog = new ChronicleCatalog(file, map);
            LOG.debug("catalog opened: entries={}", catalog.entries().size());
            return catalog;
        } catch (IOException | RuntimeException unusable) {
            LOG.info(
                    "catalog is rebuilt, so times of last use start over: file={} reason={}",
                    file,
                    Failure.words(unusable));
            if (map != null) {
                map.close();
            }
            return null;
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

    private static ChronicleMap<String, byte[]> map(Path file) throws IOException {
        return builder(MAX_ENTRIES).createPersistedTo(file.toFile());
    }

    private static ChronicleMapBuilder<String, byte[]> builder(long entries) {
        return ChronicleMap.of(String.class, byte[].class)
                .name("larder-catalog")
                .entries(entries)
                .averageKeySize(AVERAGE_KEY_BYTES)
                .averageValueSize(Long.BYTES)
                .maxBloatFactor(MAX_BLOAT)
                .actualSegments(1);
    }

    private static String key(String dataset, long version) {
        return dataset + "/" + version;
    }

    private static CatalogEntry entry(String key, byte[] value) {
        int slash = key.lastIndexOf('/');
        return new CatalogEntry(key.substring(0, slash), Long.parseLong(key.substring(slash + 1)), lastUse(value));
    }

    private static long lastUse(byte[] value) {
        if (value.length != Long.BYTES) {
            throw new IllegalStateException("an earlier release wrote this: bytes=" + value.length);
        }
        return ByteBuffer.wrap(value).getLong();
    }

    private <T> T run(String operation, Supplier<T> action) {
        try {
            return action.get();
        } catch (LarderException known) {
            throw known;
        } catch (RuntimeException failure) {
            throw Failure.of(ErrorCode.UNEXPECTED, "the catalog failed")
                    .with("operation", operation)
                    .with("file", file)
                    .with("reason", failure)
                    .cause(failure)
                    .remedy("restart the daemon: it rebuilds the catalog from the store");
        }
    }
}
