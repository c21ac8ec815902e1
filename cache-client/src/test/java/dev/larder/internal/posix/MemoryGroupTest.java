package dev.larder.internal.posix;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads the control groups of made-up machines: those of a table that {@code ops/python/test_larder.py} also reads, and others. */
class MemoryGroupTest {
    private static final Path TABLE = Path.of("src/test/resources/layout/control-groups.tsv");

    @TempDir
    Path root;

    /** A machine. */
    private record Machine(String name, long memory, OptionalLong free, List<String[]> files) {
        static Machine parse(String lines) {
            List<String[]> words = Arrays.stream(
                            lines.strip().replace("\\r", "\r").split("\n", -1))
                    .map(line -> line.split("\t", -1))
                    .toList();
            String[] first = words.get(0);
            OptionalLong free = first[2].equals("-") ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(first[2]));
            return new Machine(first[0], Long.parseLong(first[1]), free, words.subList(1, words.size()));
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static Stream<Machine> machines() throws IOException {
        return Arrays.stream(Files.readString(TABLE).split("\n\n", -1)).skip(1).map(Machine::parse);
    }

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    @ParameterizedTest
    @MethodSource("machines")
    void memoryAndFreeBytesAreThoseOfTheTable(Machine machine) throws IOException {
        for (String[] file : machine.files) {
            write(file[0], file[1].replace("\\n", "\n"));
        }

        assertThat(MemoryGroup.memoryBytes(root)).isEqualTo(machine.memory);
        assertThat(MemoryGroup.leastFreeBytes(root, 0)).isEqualTo(machine.free);
    }

    private void group(long limit, long used) throws IOException {
        write("proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
        write("proc/self/cgroup", "4:memory:/a\n");
        write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", limit + "\n");
        write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", used + "\n");
    }

    @Test
    void whatSomebodyElseNeedsIsKeptButNeverMoreThanHalf() throws IOException {
        group(100, 10);

        assertThat(MemoryGroup.leastFreeBytes(root, 30)).hasValue(60);
        assertThat(MemoryGroup.leastFreeBytes(root, 300)).hasValue(40);
    }

    @Test
    void aLimitNamesTheFileThatItStandsIn() throws IOException {
        group(50, 1);

        assertThat(MemoryGroup.own(root))
                .extracting(MemoryGroup::folder)
                .containsExactly(Path.of("/sys/fs/cgroup/memory/a"));
        assertThat(MemoryGroup.own(root).get(0).limits())
                .isEqualTo(
                        List.of(new MemoryGroup.Limit(Path.of("/sys/fs/cgroup/memory/a/memory.limit_in_bytes"), 50)));
    }
}
