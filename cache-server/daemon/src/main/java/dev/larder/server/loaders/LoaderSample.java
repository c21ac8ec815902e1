package dev.larder.server.loaders;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.process.TaskStat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The counters of a live loader at one moment.
 *
 * @param file the name of its file
 * @param nanos the moment, by the monotonic clock
 * @param cpuTicks the processor time of its process, in hundredths of a second; 0 if it is not visible
 * @param isLocked whether the main thread of its process waits for a lock; false if it is not visible
 * @param readBytes the bytes that its process has read from disks; 0 if they are not visible
 */
record LoaderSample(
        String file,
        LoaderDescriptor.Facts facts,
        long nanos,
        long cpuTicks,
        boolean isLocked,
        long readBytes,
        List<WorkRow> rows) {
    private static final Path PROCESSES = Path.of("/proc");
    private static final String READ_BYTES = "read_bytes: ";
    private static final int MOST_BYTES = LoaderDescriptor.fileLength(LoaderDescriptor.ROW_LIMIT);

    /** Samples all live loaders of a store, sorted by the names of their files. */
    static List<LoaderSample> all(StoreLayout store) {
        try (Stream<Path> files = Files.list(store.loaders())) {
            return files.sorted().flatMap(file -> of(file).stream()).toList();
        } catch (IOException | UncheckedIOException none) {
            return List.of();
        }
    }

    /** Samples one loader; empty if its process is dead, or if it is no file of a loader: any member of the store's group can make one. */
    static Optional<LoaderSample> of(Path file) {
        Posix posix = Posix.system();
        try {
            int descriptor = posix.openForReading(file);
            try {
                FileStatus found = posix.status(descriptor);
                boolean isLive =
                        found.isRegular() && found.byteSize() <= MOST_BYTES && !posix.tryLockShared(descriptor);
                return isLive ? read(file, descriptor, (int) found.byteSize()) : Optional.empty();
            } finally {
                posix.close(descriptor);
            }
        } catch (IOException | LarderException gone) {
            return Optional.empty();
        }
    }

    private static Optional<LoaderSample> read(Path file, int descriptor, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel channel = FileChannel.open(Path.of("/proc/self/fd/" + descriptor))) {
            channel.read(bytes, 0);
        }
        long now = System.nanoTime(); // not before the read, or a total of the present part would be too small
        bytes.flip();
        if (!LoaderDescriptor.isComplete(bytes)) {
            return Optional.empty();
        }
        LoaderDescriptor.Facts facts = LoaderDescriptor.facts(bytes);
        Path process = PROCESSES.resolve(Long.toString(facts.pid()));
        TaskStat stat = TaskStat.of(facts.pid(), facts.processStart()).orElse(null);
        List<WorkRow> rows = new ArrayList<>();
        @Nullable Path tasks = stat == null ? null : process.resolve("task");
        for (int row = 0; row < LoaderDescriptor.rows(bytes); row++) {
            rows.add(WorkRow.of(bytes, row, now, tasks));
        }
        return Optional.of(new LoaderSample(
                String.valueOf(file.getFileName()),
                facts,
                now,
                stat == null ? 0 : stat.cpuTicks(),
                stat != null && isLocked(process),
                stat == null ? 0 : readBytes(process),
                List.copyOf(rows)));
    }

    private static boolean isLocked(Path process) {
        try {
            return Files.readString(process.resolve("wchan")).startsWith("futex");
        } catch (IOException ofAnotherUser) {
            return false;
        }
    }

    private static long readBytes(Path process) {
        try (Stream<String> lines = Files.lines(process.resolve("io"))) {
            return lines.filter(line -> line.startsWith(READ_BYTES))
                    .mapToLong(line -> Long.parseLong(line.substring(READ_BYTES.length())))
                    .sum();
        } catch (IOException | UncheckedIOException | NumberFormatException ofAnotherUser) {
            return 0;
        }
    }

    /** Returns the rows of a role. */
    Stream<WorkRow> rows(int role) {
        return rows.stream().filter(row -> row.role() == role);
    }

    /** Returns the batches that the consumer has taken; 0 if their sum is impossible. */
    long batches() {
        return Math.max(
                0,
                rows(LoaderDescriptor.ROLE_CONSUMER).mapToLong(WorkRow::batches).sum());
    }
}
