package dev.larder.launch.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads counters of made-up machines. */
class MemoryKillsTest {
    @TempDir
    Path root;

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    @Test
    void theCounterOfTheOwnGroupIsReadInVersion2() throws IOException {
        write("proc/self/cgroup", "0::/user/job\n");
        write("sys/fs/cgroup/user/job/memory.events", "low 0\noom 7\noom_kill 3\n");

        assertThat(MemoryKills.under(root)).isEqualTo(new MemoryKills(3, -1));
    }

    @Test
    void theCounterOfTheOwnGroupIsReadInVersion1AlsoWhereItsPathIsNotSeen() throws IOException {
        write("proc/self/cgroup", "5:cpu:/x\n4:memory,hugetlb:/docker/1f\n0::/\n");
        write("sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
        write("proc/vmstat", "nr_free 1\noom_kill 9\n");

        assertThat(MemoryKills.under(root)).isEqualTo(new MemoryKills(2, 9));
    }

    @Test
    void theGroupDecidesAndTheMachineOnlyWhereTheGroupIsNotKnown() {
        assertThat(new MemoryKills(4, 9).since(new MemoryKills(3, 9))).isEqualTo("of its control group");
        assertThat(new MemoryKills(3, 9).since(new MemoryKills(3, 8))).isNull();
        assertThat(new MemoryKills(-1, 9).since(new MemoryKills(-1, 8))).contains("machine");
        assertThat(new MemoryKills(-1, 9).since(new MemoryKills(-1, 9))).isNull();
        assertThat(new MemoryKills(-1, -1).since(new MemoryKills(-1, -1))).isNull();
    }
}
