package dev.larder.internal.posix;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads the control groups of made-up machines. */
class MemoryGroupTest {
    private static final String V2 = "30 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
    private static final String V1 = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
    private static final String HYBRID = V1 + "36 31 0:33 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
            + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    private static final String NO_LIMIT = "9223372036854771712\n";
    private static final long MIB = 1L << 20;

    @TempDir
    Path root;

    private MemoryGroupTest file(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
        return this;
    }

    private MemoryGroupTest machine(String mounts, String groups) throws IOException {
        return file("proc/self/mountinfo", mounts).file("proc/self/cgroup", groups);
    }

    private MemoryGroupTest version1(String folder, String limit, long used, String stat) throws IOException {
        return file(folder + "/memory.limit_in_bytes", limit)
                .file(folder + "/memory.usage_in_bytes", used + "\n")
                .file(folder + "/memory.stat", stat);
    }

    private MemoryGroupTest version2(String folder, String limit, long used, String stat) throws IOException {
        return file(folder + "/memory.max", limit)
                .file(folder + "/memory.current", used + "\n")
                .file(folder + "/memory.stat", stat);
    }

    private OptionalLong free() {
        return MemoryGroup.leastFreeBytes(root, 0);
    }

    @Test
    void aMachineWithoutGroupsLimitsNothing() {
        assertThat(MemoryGroup.own(root)).isEmpty();
        assertThat(free()).isEmpty();
    }

    @Test
    void theMemoryIsThatOfTheMachineOrOfTheLowestGroup() throws IOException {
        assertThat(MemoryGroup.memoryBytes(root)).isZero();

        file("proc/meminfo", "MemTotal:       24576 kB\nMemFree:          1 kB\n");
        machine(V2, "0::/a/b\n").version2("sys/fs/cgroup/a/b", "max\n", MIB, "");
        assertThat(MemoryGroup.memoryBytes(root)).isEqualTo(24 * MIB);

        version2("sys/fs/cgroup/a", "8388608\n", MIB, "");
        assertThat(MemoryGroup.memoryBytes(root)).isEqualTo(8 * MIB);
    }

    @Test
    void theLimitOfVersion2IsReadAndPagesOfFilesCountAsFree() throws IOException {
        machine(V2, "0::/a/b\n")
                .version2(
                        "sys/fs/cgroup/a/b",
                        100 * MIB + "\n",
                        70 * MIB,
                        "inactive_file " + 8 * MIB + "\nactive_file 5\n")
                .version2("sys/fs/cgroup/a", "max\n", 70 * MIB, "");

        assertThat(free()).hasValue(38 * MIB + 5);
    }

    @Test
    void theTightestOfAllGroupsAboveCounts() throws IOException {
        machine(V2, "0::/a/b\n")
                .version2("sys/fs/cgroup/a/b", 100 * MIB + "\n", 10 * MIB, "")
                .version2("sys/fs/cgroup/a", 120 * MIB + "\n", 115 * MIB, "");

        assertThat(free()).hasValue(5 * MIB);
    }

    @Test
    void theLineFromWhichVersion2MakesWritersCrawlCountsAsALimit() throws IOException {
        machine(V2, "0::/a\n")
                .version2("sys/fs/cgroup/a", 100 * MIB + "\n", 10 * MIB, "")
                .file("sys/fs/cgroup/a/memory.high", 60 * MIB + "\n");

        assertThat(free()).hasValue(50 * MIB);
    }

    @Test
    void theLimitOfVersion1IsReadBesideAVersion2WithoutMemory() throws IOException {
        machine(HYBRID, "8:pids:/x\n4:memory:/docker/1f\n0::/\n")
                .version1(
                        "sys/fs/cgroup/memory/docker/1f",
                        100 * MIB + "\n",
                        70 * MIB,
                        "inactive_file 1\ntotal_inactive_file " + 3 * MIB + "\ntotal_active_file " + 4 * MIB
                                + "\nhierarchical_memory_limit " + 100 * MIB + "\n")
                .version1("sys/fs/cgroup/memory", NO_LIMIT, 500 * MIB, "hierarchical_memory_limit " + NO_LIMIT);
        Files.createDirectories(root.resolve("sys/fs/cgroup/unified"));

        assertThat(free()).hasValue(37 * MIB);
    }

    @Test
    void aLimitOfVersion1ThatLiesOutOfSightIsToldByTheGroupBelow() throws IOException {
        machine(V1, "4:memory:/a\n")
                .version1("sys/fs/cgroup/memory/a", NO_LIMIT, 10 * MIB, "hierarchical_memory_limit " + 30 * MIB + "\n");

        assertThat(free()).hasValue(20 * MIB);
    }

    @Test
    void hugeNumbersAreNoLimits() throws IOException {
        machine(V1, "4:cpuacct,memory:/a\n")
                .version1(
                        "sys/fs/cgroup/memory/a",
                        "18446744073709551615\n",
                        10 * MIB,
                        "hierarchical_memory_limit " + NO_LIMIT);

        assertThat(free()).isEmpty();
    }

    @Test
    void aGroupThatUsesMoreThanItsLimitHasNothingFree() throws IOException {
        machine(V1, "4:memory:/\n").version1("sys/fs/cgroup/memory", 10 * MIB + "\n", 11 * MIB, "");

        assertThat(free()).hasValue(0);
    }

    @Test
    void whatSomebodyElseNeedsIsKeptButNeverMoreThanHalf() throws IOException {
        machine(V1, "4:memory:/a\n").version1("sys/fs/cgroup/memory/a", 100 * MIB + "\n", 10 * MIB, "");

        assertThat(MemoryGroup.leastFreeBytes(root, 30 * MIB)).hasValue(60 * MIB);
        assertThat(MemoryGroup.leastFreeBytes(root, 300 * MIB)).hasValue(40 * MIB);
    }

    @Test
    void theGroupThatAContainerHasMountedIsItsOwn() throws IOException {
        machine(
                        "35 31 0:32 /docker/1f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
                        "4:memory:/docker/1f/job\n")
                .version1("sys/fs/cgroup/memory/job", 50 * MIB + "\n", MIB, "");

        assertThat(MemoryGroup.own(root))
                .extracting(MemoryGroup::folder)
                .containsExactly(Path.of("/sys/fs/cgroup/memory/job"));
        assertThat(free()).hasValue(49 * MIB);
    }

    @Test
    void whereTheOwnPathLeadsNowhereWhatIsMountedIsTheGroup() throws IOException {
        machine(V1, "4:memory:/docker/1f\n").version1("sys/fs/cgroup/memory", 50 * MIB + "\n", MIB, "");
        assertThat(free()).hasValue(49 * MIB);

        machine("35 31 0:32 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/\n")
                .version2("sys/fs/cgroup", 40 * MIB + "\n", MIB, "");
        assertThat(free()).hasValue(39 * MIB);
    }

    @Test
    void withoutATableOfMountsTheUsualPlacesAreLookedAt() throws IOException {
        file("proc/self/cgroup", "4:memory:/a\n0::/b\n")
                .version1("sys/fs/cgroup/memory/a", 50 * MIB + "\n", MIB, "")
                .version2("sys/fs/cgroup/b", 40 * MIB + "\n", MIB, "");

        assertThat(free()).hasValue(39 * MIB);
    }

    @Test
    void aLimitNamesTheFileThatItStandsIn() throws IOException {
        machine(V1, "4:memory:/a\n").version1("sys/fs/cgroup/memory/a", 50 * MIB + "\n", MIB, "");

        assertThat(MemoryGroup.own(root).get(0).limits())
                .isEqualTo(List.of(
                        new MemoryGroup.Limit(Path.of("/sys/fs/cgroup/memory/a/memory.limit_in_bytes"), 50 * MIB)));
    }
}
