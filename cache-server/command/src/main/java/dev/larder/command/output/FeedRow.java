package dev.larder.command.output;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.process.TaskStat;
import dev.larder.server.store.lock.LeaseTable.HeldVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A sample of a process that publishes batches for others. It is read from the files of the ring alone, see {@link RingDescriptor}.
 *
 * @param pid the publisher's pid; 0 if it is not visible
 * @param datasets the datasets that the publisher leases
 * @param epoch the epoch of the newest batch; empty before the first one
 * @param number the number of the newest batch in its epoch
 * @param batches the number of published batches
 * @param nanos the time of the sample, by a monotonic clock
 */
public record FeedRow(
        String name,
        long pid,
        List<String> datasets,
        OptionalLong epoch,
        long number,
        long batches,
        List<Consumer> consumers,
        long nanos) {
    private static final String NOTE = "pid=";
    private static final int ATTEMPTS = 3;
    private static final int LEAST_CONSUMERS = 30;

    /** The state of a consumer. */
    public enum State {
        READING,
        /** It is so far behind that the publisher waits for it, or soon will. */
        SLOW,
        /** A signal or a debugger stopped it. */
        STOPPED,
        /** The publisher no longer waits for it. */
        DROPPED
    }

    /**
     * A process that reads the batches.
     *
     * @param pid its pid; 0 if it is not visible
     * @param behind the number of published batches that it has not finished
     */
    public record Consumer(long pid, long behind, State state) {}

    public FeedRow {
        datasets = List.copyOf(datasets);
        consumers = List.copyOf(consumers);
    }

    /** Returns all live publishers, sorted by name. */
    public static List<FeedRow> of(StoreLayout store, List<HeldVersion> held) {
        return folders(store.rings()).stream()
                .flatMap(folder -> look(folder, held).stream())
                .toList();
    }

    /** Samples the ring of one name; empty if no process publishes there. */
    public static Optional<FeedRow> look(Path folder, List<HeldVersion> held) {
        try {
            Path lock = folder.resolve(RingDescriptor.PRODUCER_LOCK);
            if (!isLocked(lock)) {
                return Optional.empty();
            }
            long pid = pid(Files.readString(lock));
            List<String> datasets = held.stream()
                    .filter(version -> version.pids().contains(pid))
                    .map(HeldVersion::dataset)
                    .distinct()
                    .toList();
            Header header = Header.read(folder.resolve(RingDescriptor.RING));
            return Optional.of(new FeedRow(
                    String.valueOf(folder.getFileName()),
                    pid,
                    datasets,
                    header.published == 0 ? OptionalLong.empty() : OptionalLong.of(header.epoch),
                    header.number,
                    header.published,
                    consumers(folder, header),
                    System.nanoTime()));
        } catch (IOException | LarderException goneOrNotOurs) {
            return Optional.empty();
        }
    }

    private static List<Path> folders(Path rings) {
        try (Stream<Path> entries = Files.list(rings)) {
            return entries.sorted().toList();
        } catch (IOException | UncheckedIOException none) {
            return List.of();
        }
    }

    /** Returns whether a live process holds the lock of a file. A process that tries to take the lock at the same moment has to retry. */
    private static boolean isLocked(Path file) {
        Posix posix = Posix.system();
        int descriptor = posix.openForReading(file);
        try {
            return !posix.tryLockShared(descriptor);
        } finally {
            posix.close(descriptor);
        }
    }

    private static long pid(String note) {
        String first = note.strip();
        return first.matches(NOTE + "\\d{1,18}") ? Long.parseLong(first.substring(NOTE.length())) : 0;
    }

    private static List<Consumer> consumers(Path folder, Header header) {
        List<Consumer> consumers = new ArrayList<>();
        for (int seat = 0; seat < RingDescriptor.SEAT_LIMIT; seat++) {
            Path page = folder.resolve(RingDescriptor.seatFile(seat));
            if (!Files.exists(page)) {
                break;
            }
            header.consumer(seat, page).ifPresent(consumers::add);
        }
        return consumers;
    }

    private static ByteBuffer read(Path file, long offset, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel channel = FileChannel.open(file)) {
            channel.read(bytes, offset); // bytes behind the end read as zeros
        }
        return bytes;
    }

    /** The header of a ring; all zeros if it does not exist yet. */
    private record Header(ByteBuffer bytes, int slots, long published, long epoch, long number) {
        static Header read(Path ring) throws IOException {
            if (!Files.exists(ring)) {
                return new Header(ByteBuffer.allocate(RingDescriptor.PAGE_LENGTH), 0, 0, 0, 0);
            }
            ByteBuffer header = FeedRow.read(ring, 0, RingDescriptor.PAGE_LENGTH);
            int slots = Math.max(1, header.getInt(RingDescriptor.SLOT_COUNT_OFFSET));
            long published = header.getLong(RingDescriptor.PUBLISHED_OFFSET);
            long newest = Math.max(0, published - 1) % slots;
            long slot = header.getLong(RingDescriptor.SLOTS_OFFSET_OFFSET)
                    + newest * header.getLong(RingDescriptor.SLOT_BYTE_SIZE_OFFSET);
            ByteBuffer batch = FeedRow.read(ring, Math.max(0, slot), RingDescriptor.SLOT_PARTS_OFFSET);
            return new Header(
                    header,
                    slots,
                    published,
                    batch.getLong(RingDescriptor.SLOT_EPOCH_OFFSET),
                    batch.getLong(RingDescriptor.SLOT_NUMBER_OFFSET));
        }

        /** Returns the consumer of a seat; empty if the seat is free or cannot be read. */
        Optional<Consumer> consumer(int seat, Path page) {
            try {
                for (int attempt = 0; attempt < ATTEMPTS && isLocked(page); attempt++) {
                    ByteBuffer said = FeedRow.read(page, 0, RingDescriptor.SEAT_LENGTH);
                    long finished = said.getLong(RingDescriptor.SEAT_FINISHED_OFFSET);
                    if (said.getLong(RingDescriptor.SEAT_CHECK_OFFSET)
                            == ~finished) { // a mismatch: the consumer is writing it
                        return consumer(seat, said, finished);
                    }
                }
                return Optional.empty();
            } catch (IOException | LarderException goneOrNotOurs) {
                return Optional.empty();
            }
        }

        private Optional<Consumer> consumer(int seat, ByteBuffer said, long finished) {
            long ticket = said.getLong(RingDescriptor.SEAT_TICKET_OFFSET);
            if (ticket == 0) {
                return Optional.empty();
            }
            long pid = said.getLong(RingDescriptor.SEAT_PID_OFFSET);
            // without the start it may be a process of another pid namespace, or a later one with the same pid
            TaskStat process = TaskStat.of(pid, said.getLong(RingDescriptor.SEAT_PROCESS_START_OFFSET))
                    .orElse(null);
            long behind = Math.max(0, published - finished);
            boolean isDropped = bytes.getLong(RingDescriptor.droppedOffset(seat)) == ticket;
            return Optional.of(new Consumer(
                    process == null ? 0 : pid, behind, isDropped ? State.DROPPED : state(process, behind)));
        }

        private State state(@Nullable TaskStat process, long behind) {
            if (process != null && process.isStopped()) {
                return State.STOPPED;
            }
            return slots > 0 && behind > slots - 1 - slots / 4 ? State.SLOW : State.READING;
        }
    }

    /** Returns the batches per second since an earlier sample; 0 if that was of another publisher. */
    public double perSecond(@Nullable FeedRow before) {
        return before == null || before.pid != pid || before.batches > batches
                ? 0
                : (batches - before.batches) / (Math.max(1, nanos - before.nanos) / 1e9);
    }

    /** Returns the fields of the JSON object; the rate comes from an earlier sample. */
    public JsonFields fields(List<FeedRow> earlier) {
        return new JsonFields()
                .with("name", name)
                .with("pid", pid)
                .with("datasets", datasets)
                .with("epoch", epoch.isPresent() ? epoch.getAsLong() : null)
                .with("batches", batches)
                .with("batchesPerSecond", Math.round(perSecond(in(earlier)) * 10) / 10.0)
                .with(
                        "consumers",
                        consumers.stream()
                                .map(consumer -> new JsonFields()
                                        .with("pid", consumer.pid)
                                        .with("behind", consumer.behind)
                                        .with("state", consumer.state.name().toLowerCase(Locale.ROOT)))
                                .toList());
    }

    private @Nullable FeedRow in(List<FeedRow> earlier) {
        return earlier.stream()
                .filter(other -> other.name.equals(name))
                .findFirst()
                .orElse(null);
    }

    /** Returns a table; rates come from an earlier sample. */
    public static List<String> table(List<FeedRow> rows, List<FeedRow> earlier) {
        return table(rows, earlier, Integer.MAX_VALUE);
    }

    /** Returns a table, without the columns that do not fit into a terminal of this width; rates come from an earlier sample. */
    public static List<String> table(List<FeedRow> rows, List<FeedRow> earlier, int width) {
        Table table = Table.of(List.of("FEED", ">PID", "DATASETS", ">EPOCH", ">BATCHES", ">PER SECOND", "CONSUMERS"));
        for (FeedRow row : rows) {
            table.row(List.of(
                    row.name,
                    Long.toString(row.pid),
                    String.join(",", row.datasets),
                    row.epoch.isPresent() ? Long.toString(row.epoch.getAsLong()) : "-",
                    Long.toString(row.batches),
                    String.format(Locale.ROOT, "%.1f", row.perSecond(row.in(earlier))),
                    row.consumersInWords()));
        }
        return table.lines(width, LEAST_CONSUMERS, List.of("DATASETS", "EPOCH", "BATCHES", "PID"));
    }

    /** Returns the number of consumers, and those that the others may wait for. */
    public String consumersInWords() {
        String notReading = consumers.stream()
                .filter(consumer -> consumer.state != State.READING)
                .map(consumer -> (consumer.pid == 0 ? "hidden process" : "pid " + consumer.pid) + " "
                        + consumer.state.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
        return consumers.size() + (notReading.isEmpty() ? "" : " (" + notReading + ")");
    }
}
