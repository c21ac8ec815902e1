package dev.larder.command.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.command.doctor.Probes.DaemonAnswer;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveProbesTest {
    @TempDir
    Path folder;

    @Test
    void aDaemonThatCannotBeAskedIsNotSaidToBeSilent() {
        Path deep = folder.resolve("x".repeat(120));

        assertThatThrownBy(() -> new LiveProbes().daemon(deep)).hasMessageContaining("limit=107");
    }

    @Test
    void norTheOneOfAnotherUser() throws IOException {
        Assumptions.assumeTrue(Posix.system().userId() == 0, "only root can give a folder away");
        Files.setAttribute(folder, "unix:uid", 65_534);

        assertThatThrownBy(() -> new LiveProbes().daemon(folder)).hasMessageContaining("belongs to another user");
    }

    @Test
    void whereNobodyHoldsTheLockThereIsNone() {
        assertThat(new LiveProbes().daemon(folder).state()).isEqualTo(DaemonAnswer.State.NONE);
    }
}
