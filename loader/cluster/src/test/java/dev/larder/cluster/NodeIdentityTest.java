package dev.larder.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.launch.process.LaunchPlan;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeIdentityTest {
    @TempDir
    Path folder;

    @Test
    void aNodeIsABootAndAStoreThatNeedNotExistYet() {
        NodeIdentity one = NodeIdentity.of(folder.resolve("a/b"));

        assertThat(NodeIdentity.of(folder.resolve("x/../a/b"))).isEqualTo(one);
        assertThat(NodeIdentity.of(folder.resolve("a/c"))).isNotEqualTo(one);
        assertThat(LaunchPlan.of(1, List.of("true")).node()).isNull();
    }
}
