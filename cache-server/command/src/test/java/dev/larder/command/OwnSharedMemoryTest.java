package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs doctor as in a job to which the batch system gave a /dev/shm of its own. */
@Tag("slow")
class OwnSharedMemoryTest {
    private static final String MOUNT = "mount -t tmpfs tmpfs /dev/shm";
    private static final List<String> AS_A_JOB =
            List.of("unshare", "--mount", "sh", "-c", MOUNT + " && exec \"$@\"", "job");

    @Test
    void doctorTellsThatOtherJobsDoNotSeeTheStore() throws Exception {
        requireNamespaces();
        Path store = Path.of("/dev/shm/larder-job");

        try (CommandProcess doctor = CommandProcess.by(AS_A_JOB, store, "doctor", "--json")) {
            doctor.exitCode();
            assertThat(severity(doctor.out())).isEqualTo("warning");
        }
        try (CommandProcess doctor = CommandProcess.onStore(store, "doctor", "--json")) {
            doctor.exitCode();
            assertThat(severity(doctor.out())).isEqualTo("ok");
        }
    }

    private static String severity(String findings) {
        for (JsonElement finding : JsonParser.parseString(findings).getAsJsonArray()) {
            if (finding.getAsJsonObject().get("check").getAsString().equals("mount-namespace")) {
                return finding.getAsJsonObject().get("severity").getAsString();
            }
        }
        throw new AssertionError(findings);
    }

    private static void requireNamespaces() throws InterruptedException {
        try {
            Process process = new ProcessBuilder("unshare", "--mount", "sh", "-c", MOUNT)
                    .redirectErrorStream(true)
                    .start();
            assumeTrue(process.waitFor() == 0, "needs root, to mount a tmpfs in a namespace");
        } catch (IOException e) {
            assumeTrue(false, "needs unshare");
        }
    }
}
