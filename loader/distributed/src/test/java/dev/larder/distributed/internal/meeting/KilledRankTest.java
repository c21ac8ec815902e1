package dev.larder.distributed.internal.meeting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.testing.ChildJvm;
import dev.larder.testing.Processes;
import dev.larder.testing.Rounds;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks in processes of their own that are killed while they meet. */
class KilledRankTest {
    @TempDir
    Path folder;

    private static ChildJvm start(String place, int rank) {
        ChildJvm child = ChildJvm.start(RankProgram.class, place + "?rank=" + rank + "&world_size=3");
        child.awaitLine("going");
        return child;
    }

    private static String key(ChildJvm child) {
        return child.awaitLine("met ");
    }

    private String place(String scheme) throws IOException {
        if (scheme.equals("file")) {
            return "file://" + folder.resolve("meet");
        }
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return "tcp://127.0.0.1:" + probe.getLocalPort();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "tcp"})
    void ranksThatStayMeetThoseThatTakeThePlacesOfKilledOnes(String scheme) throws IOException {
        String place = place(scheme);
        try (ChildJvm first = start(place, 0);
                ChildJvm killed = start(place, 1)) {
            killed.kill();
            try (ChildJvm second = start(place, 1);
                    ChildJvm third = start(place, 2)) {
                assertThat(key(first)).isEqualTo(key(second)).isEqualTo(key(third));
            }
        }
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void whateverIsKilledWhenTheNextJobMeetsAtTheFile() {
        Rounds rounds = Rounds.of("killed while they meet", 3);
        Path file = folder.resolve("meet");
        for (int round = 0; round < rounds.count(); round++) {
            try (ChildJvm first = ChildJvm.start(RankProgram.class, "file://" + file + "?rank=0&world_size=2");
                    ChildJvm second = ChildJvm.start(RankProgram.class, "file://" + file + "?rank=1&world_size=2")) {
                first.awaitLine("going");
                LockSupport.parkNanos(rounds.momentNs(150)); // to kill both anywhere on their way
                first.kill();
                second.kill();
            }
            assertThat(new Attempts()
                            .meetAll("file://" + file, 2, Attempts.PATIENCE)
                            .keys())
                    .as("%s round %d", rounds, round)
                    .hasSize(1);
            assertThat(file).doesNotExist();
        }
    }

    @Test
    void aRankThatIsStoppedHoldsOthersNoLongerThanTheirDeadline() throws IOException {
        Path file = folder.resolve("meet");
        try (ChildJvm stopped = start("file://" + file, 0)) {
            await().until(() -> Files.exists(file) && Files.size(file) > 0);
            Processes.signal("STOP", stopped.pid());

            assertThat(new Attempts()
                            .meet("file://" + file + "?rank=1&world_size=3", Duration.ofMillis(300))
                            .failure(0))
                    .hasMessageContaining("not all ranks arrived in time");
            stopped.kill();
        }
    }
}
