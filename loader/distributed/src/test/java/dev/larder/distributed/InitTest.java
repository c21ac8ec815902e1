package dev.larder.distributed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.ChildJvm;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InitTest {
    @TempDir
    Path folder;

    @Test
    void aRunMakesOneGroupAfterTheOther() {
        String meeting = "file://" + folder.resolve("meeting");
        String regions = folder.resolve("regions").toString();
        try (ChildJvm one = ChildJvm.start(InitProcess.class, regions, meeting + "?rank=0&world_size=2");
                ChildJvm other = ChildJvm.start(InitProcess.class, regions, meeting + "?rank=1&world_size=2")) {
            for (ChildJvm rank : new ChildJvm[] {one, other}) {
                assertThat(rank.awaitExit()).as(rank.errors()).isZero();
                assertThat(rank.remainingLines()).containsExactly("sum 3 of 2", "sum 3 of 2", "sum 3 of 2");
            }
        }
    }
}
