package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.larder.testing.ChildJvm;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counts the copies of an array in the memory of a machine whose programs all read all of it. */
class OneCopyTest {
    /** Longer than the heap of any of the processes, which is one mapping too. */
    private static final long DATA_BYTES = 320L << 20;

    private static final long SEED = 42;
    private static final double PERCENT = 2;

    /** What a small JVM may need besides, all told; far less than a copy. */
    private static final long JVM_BYTES = 96L << 20;

    private static final List<String> SMALL = List.of("-Xmx64m", "-XX:MaxDirectMemorySize=384m", "-XX:+UseSerialGC");

    @TempDir
    Path folder;

    private final Deque<ChildJvm> trainers = new ArrayDeque<>();
    private final List<Long> pids = new ArrayList<>();
    private Path source;
    private String checksum;

    @BeforeEach
    void writeSource() throws IOException {
        source = Samples.noise(folder, DATA_BYTES, SEED);
        CRC32C crc = new CRC32C();
        try (FileChannel channel = FileChannel.open(source)) {
            ByteBuffer file = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
            crc.update(file.position((int) (channel.size() - DATA_BYTES)));
        }
        checksum = "crc " + crc.getValue();
    }

    @AfterEach
    void end() {
        trainers.forEach(ChildJvm::close);
    }

    /** Starts trainers until there are so many, and waits until the new ones have read everything. */
    private void grow(int count, String... arguments) {
        List<ChildJvm> started = new ArrayList<>();
        while (trainers.size() < count) {
            List<String> flags = new ArrayList<>(ChildJvm.libraryFlags());
            flags.addAll(SMALL);
            String classPath = System.getProperty("java.class.path");
            trainers.add(ChildJvm.start(classPath, flags, WholeReader.class.getName(), arguments));
            started.add(trainers.getLast());
            pids.add(trainers.getLast().pid());
        }
        for (ChildJvm trainer : started) {
            assertThat(trainer.awaitLine("crc")).isEqualTo(checksum);
        }
    }

    @Test
    void oneTrainerOrEightTheMachineHasOneCopy() throws IOException {
        try (CommandProcess daemon = CommandProcess.serve("--load", "proof=" + source)) {
            pids.add(daemon.pid());
            for (int count : new int[] {1, 4, 8}) {
                grow(count, "shared", daemon.store().toString(), "proof");

                Pss pss = Pss.of(pids, DATA_BYTES);

                assertThat(pss.longMappingsBytes())
                        .as("%d trainers", count)
                        .isCloseTo(DATA_BYTES, withinPercentage(PERCENT));
                assertThat(pss.otherBytes()).as("%d trainers", count).isLessThan(pids.size() * JVM_BYTES);
            }
        }
    }

    @Tag("slow")
    @Test
    void trainersThatLoadForThemselvesHaveACopyEach() throws IOException {
        for (int count : new int[] {1, 4, 8}) {
            grow(count, "own", source.toString());

            Pss pss = Pss.of(pids, DATA_BYTES);

            assertThat(pss.longMappingsBytes())
                    .as("%d trainers", count)
                    .isCloseTo(count * DATA_BYTES, withinPercentage(PERCENT));
        }
    }
}
