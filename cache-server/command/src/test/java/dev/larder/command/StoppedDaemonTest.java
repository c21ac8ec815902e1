package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What commands say of a daemon that a signal has stopped. */
@Tag("slow")
class StoppedDaemonTest {
    @Test
    void itsPidAndWhatWakesItAreNamed() {
        try (CommandProcess daemon = CommandProcess.serve()) {
            daemon.signal("STOP");

            Answer answer = daemon.ask("ls");
            Answer doctor = daemon.ask("doctor");
            daemon.signal("CONT");

            assertThat(answer.code()).isEqualTo(9);
            assertThat(answer.err()).contains("stopped by a signal; to resume it: kill -CONT " + daemon.pid());
            assertThat(doctor.lines())
                    .anyMatch(line -> line.contains(" do: the daemon was stopped by a signal; to resume it: kill -CONT "
                            + daemon.pid() + "; if that does not help, kill -9 "))
                    .noneMatch(line -> line.contains("reason=") && line.contains("kill -CONT"));
            assertThat(daemon.ask("ls").code()).isZero();
        }
    }
}
