package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.larder.testing.LeavesNothingBehind;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A daemon in a container whose store readers outside of it have open: it cannot see their processes, only their leases. */
@Tag("slow")
class PidNamespacesTest {
    private static final List<String> IN_A_NAMESPACE =
            List.of("unshare", "--pid", "--fork", "--kill-child", "--mount-proc");

    @TempDir
    Path folder;

    @Test
    void whatIsLeasedFromOutsideIsNotEvictedByRequestNorForOthers() throws Exception {
        requireNamespaces();
        Path store = LeavesNothingBehind.newStore();
        try (CommandProcess daemon = CommandProcess.by(IN_A_NAMESPACE, store, "serve", "--capacity", "64k")
                .awaitOut("Done caching.")) {
            daemon.ask("load", "held=" + Samples.vector(folder, "held", 40_000));
            Path other = Samples.vector(folder, "other", 40_000);
            Process reader = Samples.reader(store.resolve("data/held/1/lease"));
            try {
                Answer evicted = daemon.ask("evict", "held");
                Answer loaded = daemon.ask("load", "other=" + other);

                assertThat(evicted.code()).isEqualTo(7);
                assertThat(evicted.err()).contains("dataset is in use");
                assertThat(loaded.code()).isEqualTo(5);
                assertThat(loaded.err()).contains("not enough space").doesNotContain(" leased=0 ");
                assertThat(daemon.ask("stop").code()).isEqualTo(7);
            } finally {
                reader.destroyForcibly().waitFor(1, TimeUnit.MINUTES);
            }
            Answer loaded = daemon.ask("load", "other=" + other);

            assertThat(loaded.code()).as(loaded.err()).isZero();
            assertThat(daemon.ask("stop").code()).isZero();
            assertThat(daemon.exitCode()).isZero();
        }
    }

    private static void requireNamespaces() {
        try (CommandProcess probe = CommandProcess.by(IN_A_NAMESPACE, LeavesNothingBehind.newStore(), "--version")) {
            probe.exitCode();
            assumeThat(probe.err()).as("needs root").doesNotContain("unshare: ");
        }
    }
}
