package dev.larder.distributed.region;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.RegionRow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Regions as files of a folder, without a daemon: several processes can use them as they use those of a daemon, and nobody reclaims
 * them. The folder is one of the test's own.
 */
public final class FolderRegions implements RegionSource {
    private final Path folder;
    private final Consumer<RegionSpec> beforeMaking;

    private FolderRegions(Path folder, Consumer<RegionSpec> beforeMaking) {
        this.folder = folder;
        this.beforeMaking = beforeMaking;
    }

    /** Uses the regions of a folder, which it makes where it is absent. The caller closes them. */
    public static Regions in(Path folder) {
        return in(folder, spec -> {});
    }

    /** Uses them as {@link #in(Path)}, and does something whenever this process asks for a region. */
    public static Regions in(Path folder, Consumer<RegionSpec> beforeMaking) {
        Posix posix = Posix.system();
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        posix.close(posix.openOrCreate(folder.resolve(RegionDescriptor.LOCKS_FILE), 0600));
        return new Regions(new FolderRegions(folder, beforeMaking));
    }

    @Override
    public Path locks() {
        return folder.resolve(RegionDescriptor.LOCKS_FILE);
    }

    /** A file without an id in its name is the name's: linking to it decides between those who make one at once. */
    @Override
    public RegionRow create(RegionSpec spec, Duration timeLeft) {
        beforeMaking.accept(spec);
        try {
            while (true) {
                Optional<RegionRow> there = find(spec.name());
                if (there.isPresent()) {
                    return there.get();
                }
                long id = RegionDescriptor.idFrom(ThreadLocalRandom.current().nextLong());
                Path file = folder.resolve(RegionDescriptor.fileName(spec.name(), id));
                make(file, spec, id);
                try {
                    Files.createLink(folder.resolve(spec.name()), file);
                } catch (FileAlreadyExistsException e) {
                    Files.delete(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void make(Path file, RegionSpec spec, long id) {
        Posix posix = Posix.system();
        int descriptor = posix.openOrCreate(file, 0600);
        try {
            posix.reserve(descriptor, 0, RegionDescriptor.DATA_OFFSET + spec.byteSize());
            ByteBuffer header =
                    ByteBuffer.allocateDirect(RegionDescriptor.DATA_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
            header.putLong(RegionDescriptor.MAGIC_OFFSET, RegionDescriptor.MAGIC);
            header.putInt(RegionDescriptor.FORMAT_VERSION_OFFSET, StoreLayout.FORMAT_VERSION);
            header.putLong(RegionDescriptor.ID_OFFSET, id);
            header.putLong(RegionDescriptor.BYTE_SIZE_OFFSET, spec.byteSize());
            header.put(RegionDescriptor.KIND_OFFSET, spec.kind().getBytes(StandardCharsets.US_ASCII));
            BulkIo.system().write(descriptor, 0, header, 0, header.capacity());
        } finally {
            posix.close(descriptor);
        }
    }

    /** Looks at what has the name before it reads: a file that is being made has none yet, and its header is not there. */
    @Override
    public Optional<RegionRow> find(String name, Duration timeLeft) {
        return find(name);
    }

    private Optional<RegionRow> find(String name) {
        return files().stream()
                .filter(file ->
                        name.equals(RegionDescriptor.nameOf(file.getFileName().toString())))
                .filter(this::isNamed)
                .flatMap(file -> read(file).stream())
                .findAny();
    }

    private boolean isNamed(Path file) {
        try {
            return Files.isSameFile(
                    file,
                    folder.resolve(String.valueOf(
                            RegionDescriptor.nameOf(file.getFileName().toString()))));
        } catch (IOException gone) {
            return false;
        }
    }

    @Override
    public List<RegionRow> list() {
        return files().stream().flatMap(file -> read(file).stream()).toList();
    }

    private List<Path> files() {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> RegionDescriptor.idOf(file.getFileName().toString()) != 0)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<RegionRow> read(Path file) {
        try {
            byte[] bytes = new byte[RegionDescriptor.DATA_OFFSET];
            try (var in = Files.newInputStream(file)) {
                in.readNBytes(bytes, 0, bytes.length);
            }
            ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            String name =
                    String.valueOf(RegionDescriptor.nameOf(file.getFileName().toString()));
            String kind = new String(
                            bytes,
                            RegionDescriptor.KIND_OFFSET,
                            RegionDescriptor.KIND_LENGTH,
                            StandardCharsets.US_ASCII)
                    .trim();
            long id = header.getLong(RegionDescriptor.ID_OFFSET);
            long byteSize = header.getLong(RegionDescriptor.BYTE_SIZE_OFFSET);
            return Optional.of(new RegionRow(name, kind, id, byteSize, file.toString(), 0, Instant.EPOCH));
        } catch (IOException gone) {
            return Optional.empty();
        }
    }

    @Override
    public void remove(String name, long id) {
        find(name).filter(row -> id == 0 || row.id() == id).ifPresent(row -> {
            try {
                Files.deleteIfExists(folder.resolve(name));
                Files.deleteIfExists(row.file());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Override
    public int open(RegionRow row) {
        try {
            return Posix.system().openForWriting(row.file());
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return -1;
            }
            throw e;
        }
    }
}
