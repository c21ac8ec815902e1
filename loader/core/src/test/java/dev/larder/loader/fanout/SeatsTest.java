package dev.larder.loader.fanout;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.process.TaskStat;
import dev.larder.testing.Processes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SeatsTest {
    private final Posix posix = Posix.system();
    private final Gallery gallery = new Gallery(100, 50, 16);
    private final BatchPublisher publisher = gallery.publisher().seats(3).open();
    private final Seat first = take();
    private final Seat second = take();
    private final int[] descriptors = IntStream.range(0, 3)
            .map(seat -> posix.openForReading(gallery.ring().resolve(RingDescriptor.seatFile(seat))))
            .toArray();
    private final Seats seats = new Seats(posix, descriptors);

    private Seat take() {
        return Objects.requireNonNull(Seat.tryTake(posix, gallery.ring()));
    }

    @BeforeEach
    void sitDown() {
        first.sit(0);
        second.sit(0);
        assertThat(seats.taken()).isEqualTo(2);
    }

    @AfterEach
    void close() {
        IntStream.of(descriptors).forEach(posix::close);
        first.close();
        second.close();
        publisher.close();
        gallery.close();
    }

    @Test
    void oneIsBehindUntilAllHaveFinished() {
        assertThat(seats.isOneBehind(4)).isTrue();

        second.finish(4);
        assertThat(seats.isOneBehind(4)).isTrue();

        first.finish(5);
        assertThat(seats.isOneBehind(4)).isFalse();
        assertThat(seats.leastFinishedOfKnown()).isEqualTo(4);
    }

    @Test
    void aConsumerThatCatchesUpDuringTheWaitForAnotherIsNotBehind() {
        assertThat(seats.isOneBehind(4)).isTrue(); // reads the page of the first consumer only

        second.finish(4);

        assertThat(seats.behind(4)).containsExactly(0);
    }

    @Test
    void aConsumerThatLeavesDuringTheWaitForAnotherIsNotBehind() {
        assertThat(seats.isOneBehind(4)).isTrue();

        second.close();

        assertThat(seats.behind(4)).containsExactly(0);
        assertThat(seats.known()).containsExactly(0);
    }

    @Test
    void aStoppedProcessIsTheConsumerOnlyIfItStartedThen() throws Exception {
        Process other = new ProcessBuilder("sleep", "300").start();
        try {
            Processes.signal("STOP", other.pid());
            long start = TaskStat.of(Path.of("/proc", Long.toString(other.pid())))
                    .orElseThrow()
                    .startTicks();

            assertThat(isStopped(other.pid(), start)).isTrue();
            assertThat(isStopped(other.pid(), start - 1)).isFalse();
        } finally {
            other.destroyForcibly().waitFor();
        }
    }

    /** Returns whether the producer takes a consumer for stopped whose page has this pid and start. */
    private boolean isStopped(long pid, long start) throws IOException {
        ByteBuffer page = ByteBuffer.allocate(RingDescriptor.SEAT_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        page.putLong(RingDescriptor.SEAT_TICKET_OFFSET, 1 + 2 * start); // another consumer each time
        page.putLong(RingDescriptor.SEAT_CHECK_OFFSET, ~0L);
        page.putLong(RingDescriptor.SEAT_PID_OFFSET, pid);
        page.putLong(RingDescriptor.SEAT_PROCESS_START_OFFSET, start);
        Files.write(gallery.ring().resolve(RingDescriptor.seatFile(2)), page.array(), StandardOpenOption.WRITE);
        assertThat(seats.taken()).isEqualTo(3);
        return seats.isStopped(2);
    }

    @Test
    void aConsumerWritesWhichProcessItIs() throws IOException {
        ByteBuffer page = ByteBuffer.wrap(Files.readAllBytes(gallery.ring().resolve(RingDescriptor.seatFile(0))))
                .order(ByteOrder.LITTLE_ENDIAN);

        assertThat(page.getLong(RingDescriptor.SEAT_PID_OFFSET))
                .isEqualTo(ProcessHandle.current().pid());
        assertThat(page.getLong(RingDescriptor.SEAT_PROCESS_START_OFFSET))
                .isEqualTo(TaskStat.ofThisProcess().orElseThrow().startTicks());
    }

    @Test
    void aNewConsumerIsKnownAfterAReadOfAllPages() {
        try (Seat third = take()) {
            third.sit(2);
            first.finish(9);
            second.finish(9);

            assertThat(seats.leastFinishedOfKnown()).isEqualTo(9);
            assertThat(seats.leastFinished()).isEqualTo(2);
            assertThat(seats.isOneBehind(3)).isTrue();
        }
    }

    @Test
    void aPositionThatIsHalfWrittenIsNotUsed() throws IOException {
        first.finish(4);
        second.finish(9);
        assertThat(seats.leastFinished()).isEqualTo(4);

        write(0, RingDescriptor.SEAT_FINISHED_OFFSET, 7);
        assertThat(seats.leastFinished()).isEqualTo(4);

        write(0, RingDescriptor.SEAT_CHECK_OFFSET, ~7);
        assertThat(seats.leastFinished()).isEqualTo(7);
    }

    @Test
    void theSeatOfADeadConsumerIsFreeForTheNextOne() throws IOException {
        write(2, RingDescriptor.SEAT_TICKET_OFFSET, 5);
        assertThat(seats.taken()).isEqualTo(3);

        assertThat(seats.isDead(2)).isTrue();

        try (Seat third = take()) {
            assertThat(third.number()).isEqualTo(2);
        }
    }

    private void write(int seat, int offset, long value) throws IOException {
        Path page = gallery.ring().resolve(RingDescriptor.seatFile(seat));
        try (FileChannel file = FileChannel.open(page, StandardOpenOption.WRITE)) {
            file.write(
                    ByteBuffer.allocate(Long.BYTES)
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .putLong(0, value),
                    offset);
        }
    }
}
