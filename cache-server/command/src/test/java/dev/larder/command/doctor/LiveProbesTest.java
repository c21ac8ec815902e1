package dev.larder.command.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.command.doctor.Probes.DaemonAnswer;
import dev.larder.internal.control.ShortFolder;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response;
import dev.larder.server.control.ControlServer;
import dev.larder.server.control.ControlSettings;
import dev.larder.server.control.RequestHandler;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveProbesTest {
    @TempDir(factory = ShortFolder.class)
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
    void aDaemonWhoseWorkersHangShowsWhatTheyWaitFor() {
        ErrorRow late = new ErrorRow(1, Instant.EPOCH, Instant.EPOCH, ErrorRow.LATE + ": request=Wait", "\tat access0");
        ErrorRow other = new ErrorRow(1, Instant.EPOCH, Instant.EPOCH, "another", "");
        RequestHandler handler = (request, reply) -> {
            if (request instanceof Request.Errors) {
                reply.answer(new Response.ErrorRows(List.of(other, late)));
            }
        };
        ControlSettings settings = ControlSettings.of(new StoreLayout(folder), "1");
        try (ControlServer server =
                ControlServer.start(settings, handler, Counters.unshared(), new ErrorLog(Clock.systemUTC()))) {
            DaemonAnswer answer = new LiveProbes().daemon(folder);

            assertThat(server).isNotNull();
            assertThat(answer.state()).isEqualTo(DaemonAnswer.State.HANGING);
            assertThat(answer.version()).isEqualTo(ErrorRow.LATE + ": request=Wait\nat access0");
        }
    }

    @Test
    void whereNobodyHoldsTheLockThereIsNone() {
        assertThat(new LiveProbes().daemon(folder).state()).isEqualTo(DaemonAnswer.State.NONE);
    }
}
