package dev.larder.launch.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.testing.DefaultSignals;
import dev.larder.testing.Processes;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Kills those who start and guard processes, and looks at what is left. */
class KilledStarterTest {
    private static final int SIGTERM = 1 << 14; // as a bit of a mask

    /** A child, and a daemon: an orphan with a session of its own. */
    private static final String FAMILY = "trap '' TERM HUP; sleep 600 & echo kin $!; "
            + "(setsid sh -c 'trap \"\" TERM HUP; echo daemon $$; while :; do sleep 600; done' &); while :; do wait; done";

    @Test
    void nothingOutlivesAStarterThatIsKilled() throws IOException {
        try (Starter starter = Starter.of(FAMILY)) {
            List<Long> family = family(starter);

            starter.kill();

            family.forEach(Processes::awaitGone);
            Processes.awaitGone(starter.number("guardian"));
        }
    }

    @Test
    void aChildThatHasLostItsEnvironmentDiesWithItsSession() throws IOException {
        try (Starter starter = Starter.of("trap '' TERM HUP; env -i sleep 600 & echo kin $!; while :; do wait; done")) {
            long kin = starter.number("child said kin");

            starter.kill();

            try {
                Processes.awaitGone(kin);
            } finally {
                ProcessHandle.of(kin).ifPresent(ProcessHandle::destroyForcibly);
            }
        }
    }

    @Test
    void aKilledGuardianIsReplacedAndTheProgramLivesOn() throws IOException {
        try (Starter starter = Starter.of(FAMILY)) {
            List<Long> family = family(starter);
            long first = starter.number("guardian");
            ProcessHandle.of(first).orElseThrow().destroyForcibly();
            long second = starter.otherNumber("guardian", first);
            assertThat(family).allMatch(Processes::isRunning);

            starter.kill();

            family.forEach(Processes::awaitGone);
            Processes.awaitGone(second);
        }
    }

    @Test
    void theProgramDiesEvenWhereStarterAndGuardianAreKilledTogether() throws IOException {
        try (Starter starter = Starter.of("trap '' TERM HUP; echo program $$; while :; do :; done")) {
            long pid = starter.number("child said program"); // before its own code runs, only the guardian would end it
            ProcessHandle.of(starter.number("guardian")).orElseThrow().destroyForcibly();

            starter.kill();

            Processes.awaitGone(pid);
        }
    }

    @Test
    void theGuardianIgnoresPoliteSignals() throws IOException {
        try (Starter starter = Starter.of(FAMILY)) {
            List<Long> family = family(starter);
            long guardian = starter.number("guardian");
            await().until(() -> (DefaultSignals.ignoredBy(Long.toString(guardian)) & SIGTERM)
                    != 0); // its shell has read the script so far

            Processes.signal("TERM", guardian);
            starter.kill();

            family.forEach(Processes::awaitGone);
            Processes.awaitGone(guardian);
        }
    }

    @Test
    void aStarterThatIsItselfAChildTakesItsChildrenWithIt() {
        List<Long> pids = new ArrayList<>();
        OutputRedirect output = OutputRedirect.merged(null, read -> {
            synchronized (pids) {
                read.stream()
                        .map(OutputLine::text)
                        .filter(text -> text.matches("(pid|child said [a-z]+) \\d+"))
                        .forEach(text -> pids.add(Long.parseLong(text.substring(text.lastIndexOf(' ') + 1))));
            }
        });
        ProcessSpec inner = new ProcessSpec(Starter.words("sh", "-c", FAMILY), Map.of(), null, output, true);
        try (ChildProcess outer = ChildProcess.start(inner)) {
            await().until(() -> pids.size() == 3);

            outer.end(EndReason.CANCELLED, Duration.ZERO);
            outer.await(Duration.ofSeconds(20));

            assertThat(pids).noneMatch(Processes::isRunning);
        }
    }

    @Test
    void aProgramHearsSignalsThatItsStarterIgnores() throws IOException {
        try (Starter starter = Starter.deaf("echo up $$; exec sleep 600")) {
            long pid = starter.number("child said up");

            Processes.signal("INT", pid);

            Processes.awaitGone(pid);
        }
    }

    private static List<Long> family(Starter starter) {
        return List.of(starter.number("pid"), starter.number("child said kin"), starter.number("child said daemon"));
    }
}
