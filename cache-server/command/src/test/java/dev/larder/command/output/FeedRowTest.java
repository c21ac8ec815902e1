package dev.larder.command.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.process.TaskStat;
import dev.larder.testing.Processes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FeedRowTest {
    private static final long PID = ProcessHandle.current().pid();
    private static final long START = TaskStat.ofThisProcess().orElseThrow().startTicks();

    @TempDir
    Path folder;

    private FeedRow.Consumer consumer(long pid, long start) throws IOException {
        ByteBuffer page = ByteBuffer.allocate(RingDescriptor.SEAT_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        page.putLong(RingDescriptor.SEAT_TICKET_OFFSET, 7);
        page.putLong(RingDescriptor.SEAT_CHECK_OFFSET, ~0L);
        page.putLong(RingDescriptor.SEAT_PID_OFFSET, pid);
        page.putLong(RingDescriptor.SEAT_PROCESS_START_OFFSET, start);
        int producer = locked(RingDescriptor.PRODUCER_LOCK, new byte[0]);
        int seat = locked(RingDescriptor.seatFile(0), page.array());
        try {
            return FeedRow.look(folder, List.of()).orElseThrow().consumers().get(0);
        } finally {
            Posix.system().close(seat);
            Posix.system().close(producer);
        }
    }

    private int locked(String name, byte[] content) throws IOException {
        int file = Posix.system().openForReading(Files.write(folder.resolve(name), content));
        assertThat(Posix.system().tryLockExclusive(file)).isTrue();
        return file;
    }

    @Test
    void aPidIsThatOfAConsumerOnlyWithItsStart() throws IOException {
        assertThat(consumer(PID, START)).isEqualTo(new FeedRow.Consumer(PID, 0, FeedRow.State.READING));
        assertThat(consumer(PID, START + 1)).isEqualTo(new FeedRow.Consumer(0, 0, FeedRow.State.READING));
    }

    @Test
    void aConsumerThatIsNotVisibleHasNoPidInATable() {
        List<FeedRow.Consumer> consumers =
                List.of(new FeedRow.Consumer(0, 9, FeedRow.State.SLOW), new FeedRow.Consumer(7, 9, FeedRow.State.SLOW));

        assertThat(new FeedRow("run1", 1, List.of(), OptionalLong.empty(), 0, 9, consumers, 0).consumersInWords())
                .isEqualTo("2 (hidden process slow, pid 7 slow)");
    }

    @Test
    void aStoppedProcessWithThePidOfAConsumerIsNotTheConsumer() throws Exception {
        Process other = new ProcessBuilder("sleep", "300").start();
        try {
            Processes.signal("STOP", other.pid());
            long start = TaskStat.of(Path.of("/proc", Long.toString(other.pid())))
                    .orElseThrow()
                    .startTicks();

            assertThat(consumer(other.pid(), start).state()).isEqualTo(FeedRow.State.STOPPED);
            assertThat(consumer(other.pid(), start - 1).state()).isEqualTo(FeedRow.State.READING);
        } finally {
            other.destroyForcibly().waitFor();
        }
    }
}
