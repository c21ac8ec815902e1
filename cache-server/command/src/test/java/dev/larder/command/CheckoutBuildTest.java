package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts the command of a checkout while another process builds it. */
class CheckoutBuildTest {
    private static final String SCRIPT = """
            source ../../ops/build-dist
            home=$1
            is_fresh() { [[ -e $home/fresh ]]; }
            exec {other}>"$home/lock"
            flock "$other"
            (exec {other}>&-; ensure_dist) 2>"$home/said" &
            until grep -qs "waiting for another build" "$home/said"; do sleep 0.02; done
            touch "$home/fresh"
            exec {other}>&-
            wait "$!"
            cat "$home/said"
            """;

    @Test
    void aBuildOfAnotherProcessIsAwaitedWithALine(@TempDir Path folder) throws IOException, InterruptedException {
        Process shell = new ProcessBuilder(
                        "timeout", "60", "bash", "-euo", "pipefail", "-c", SCRIPT, "bash", folder.toString())
                .redirectErrorStream(true)
                .start();

        String said = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(shell.waitFor()).as(said).isZero();
        assertThat(said).isEqualTo("larder: waiting for another build (log: " + folder + "/build.log)\n");
    }
}
