package dev.larder.distributed.internal.meeting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.distributed.rendezvous.Rendezvous;
import dev.larder.distributed.rendezvous.RendezvousResult;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Ranks that meet by TCP, and strangers that come between. */
class TcpMeetingTest {
    private static final Duration SHORT = Duration.ofMillis(400);

    private int port;

    @BeforeEach
    void findPort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = probe.getLocalPort();
        }
    }

    private String place() {
        return "tcp://127.0.0.1:" + port;
    }

    private String seat(int rank, int worldSize) {
        return place() + "?rank=" + rank + "&world_size=" + worldSize;
    }

    private Socket connect() {
        return await().ignoreExceptions()
                .atMost(Attempts.PATIENCE)
                .until(() -> new Socket(InetAddress.getLoopbackAddress(), port), Socket::isConnected);
    }

    @Test
    void ranksGetOneKeyWhicheverComesFirst() {
        Attempts attempts = new Attempts().meetAll(place(), 5, Attempts.PATIENCE);

        assertThat(attempts.keys()).hasSize(1).allMatch(key -> key.matches("[a-z0-9-]{16,64}"));
        assertThat(attempts.meeting(1))
                .extracting(RendezvousResult::rank, RendezvousResult::worldSize)
                .containsExactly(3, 5);
    }

    @Test
    void theNextMeetingAtTheSamePlaceHasAnotherKey() {
        String first = new Attempts()
                .meetAll(place(), 3, Attempts.PATIENCE)
                .keys()
                .iterator()
                .next();

        assertThat(new Attempts().meetAll(place(), 3, Attempts.PATIENCE).keys())
                .hasSize(1)
                .doesNotContain(first);
    }

    @Test
    void aRankAloneMeetsNobody() {
        assertThat(new Attempts().meet(seat(0, 1), Attempts.PATIENCE).meeting(0).worldSize())
                .isEqualTo(1);
    }

    @Test
    void everyRankHearsWhichAreMissingWhenTheTimeOfRankZeroIsUp() {
        Attempts attempts = new Attempts()
                .meet(seat(0, 6), Duration.ofMillis(600))
                .meet(seat(1, 6), Attempts.PATIENCE)
                .meet(seat(4, 6), Attempts.PATIENCE);

        for (int i = 0; i < 3; i++) {
            LarderException failure = attempts.failure(i);
            assertThat(failure.code()).isEqualTo(ErrorCode.DEADLINE);
            assertThat(failure).hasMessageContaining("missing=2-3,5 ");
        }
    }

    @Test
    void aRankWhoseOwnTimeIsUpKnowsWhichAreMissing() {
        Attempts attempts =
                new Attempts().meet(seat(0, 4), Duration.ofSeconds(5)).meet(seat(1, 4), Duration.ofSeconds(3));

        assertThat(attempts.failure(1)).hasMessageContaining("missing=2-3 ");
        assertThat(attempts.failure(0)).hasMessageContaining("missing=1-3 ");
    }

    @Test
    void aRankThatFindsNobodyNamesRankZero() {
        assertThat(new Attempts().meet(seat(1, 2), SHORT).failure(0))
                .hasMessageContaining("missing=0 ")
                .hasMessageContaining("refused");
    }

    @Test
    void strangersWhoSayNothingOrNonsenseDisturbNobody() throws IOException {
        Attempts attempts = new Attempts().meet(seat(0, 2), Attempts.PATIENCE);
        List<Socket> strangers = new ArrayList<>(List.of(connect()));
        for (int i = 0; i < 300; i++) {
            strangers.add(new Socket(InetAddress.getLoopbackAddress(), port));
        }
        strangers.get(0).getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        strangers.get(1).getOutputStream().write("LARDRNKS".getBytes(StandardCharsets.US_ASCII));
        strangers.get(2).close();

        assertThat(attempts.meet(seat(1, 2), Attempts.PATIENCE).keys()).hasSize(1);

        for (Socket stranger : strangers) {
            stranger.close();
        }
    }

    @Test
    void aRankThatComesTwiceIsRefusedAndTheFirstStays() {
        Attempts attempts = new Attempts().meet(seat(0, 3), Attempts.PATIENCE).meet(seat(1, 3), Duration.ofSeconds(5));
        attempts.meet(seat(1, 3), Duration.ofSeconds(5));

        LarderException failure = attempts.failureOfAny(1, 2);
        attempts.meet(seat(2, 3), Attempts.PATIENCE);

        assertThat(failure.code()).isEqualTo(ErrorCode.REFUSED);
        assertThat(failure).hasMessageContaining("already joined");
        assertThat(attempts.meeting(0).key()).isEqualTo(attempts.meeting(3).key());
    }

    @Test
    void aRankOfAnotherWorldSizeIsRefusedAndTheOthersMeet() {
        Attempts attempts = new Attempts().meet(seat(0, 2), Attempts.PATIENCE).meet(seat(2, 3), Attempts.PATIENCE);

        assertThat(attempts.failure(1)).hasMessageContaining("world sizes differ: this rank has 3, rank 0 has 2");
        assertThat(attempts.meet(seat(1, 2), Attempts.PATIENCE).meeting(2).key())
                .isEqualTo(attempts.meeting(0).key());
    }

    @Test
    void aRankOfAnotherJobIsRefused() {
        Attempts attempts = new Attempts()
                .meet(seat(0, 2) + "&job=a", Duration.ofSeconds(2))
                .meet(seat(1, 2) + "&job=b", Attempts.PATIENCE);

        assertThat(attempts.failure(1)).hasMessageContaining("another job uses this address");
        assertThat(attempts.failure(0)).hasMessageContaining("turnedAway=rank 1 of pid");
    }

    @Test
    void aSecondRankZeroHearsThatThereIsOne() throws IOException {
        Attempts attempts = new Attempts().meet(seat(0, 2), Attempts.PATIENCE);
        connect().close();

        LarderException failure = attempts.meet(seat(0, 2), Attempts.PATIENCE).failure(1);

        assertThat(failure.code()).isEqualTo(ErrorCode.REFUSED);
        assertThat(failure).hasMessageContaining("in use").hasMessageContaining("there is already a rank 0");
        attempts.interrupt(0);
        assertThat(attempts.failure(0).code()).isEqualTo(ErrorCode.INTERRUPTED);
    }

    @Test
    void rankZeroHearsThatAnotherProgramHasThePort() throws IOException {
        try (ServerSocket other = new ServerSocket(port, 8, InetAddress.getLoopbackAddress())) {
            assertThat(other.isBound()).isTrue();
            LarderException failure =
                    new Attempts().meet(seat(0, 2), Attempts.PATIENCE).failure(0);

            assertThat(failure.code()).isEqualTo(ErrorCode.REFUSED);
            assertThat(failure).hasMessageContaining("in use").hasMessageContaining("by=another program");
        }
    }

    @Test
    void aRankThatReachesAnotherProgramSaysSo() throws IOException {
        try (ServerSocket other = new ServerSocket(port, 8, InetAddress.getLoopbackAddress())) {
            Attempts attempts = new Attempts().meet(seat(1, 2), Attempts.PATIENCE);
            try (Socket rank = other.accept()) {
                rank.getOutputStream().write("220 mail.example ESMTP\r\n".getBytes(StandardCharsets.US_ASCII));
                assertThat(attempts.failure(0)).hasMessageContaining("reason=it is another program");
            }
        }
    }

    @Test
    void ranksGoToTheNextRankZeroWhereTheFirstDied() {
        Attempts attempts = new Attempts().meet(seat(0, 3), Attempts.PATIENCE).meet(seat(1, 3), Attempts.PATIENCE);
        attempts.interrupt(0);
        assertThat(attempts.failure(0).code()).isEqualTo(ErrorCode.INTERRUPTED);

        attempts.meet(seat(0, 3), Attempts.PATIENCE).meet(seat(2, 3), Attempts.PATIENCE);

        assertThat(attempts.meeting(1).key())
                .isEqualTo(attempts.meeting(2).key())
                .isEqualTo(attempts.meeting(3).key());
    }

    @Test
    void aRankThatWentAwayMayComeBack() {
        Attempts attempts = new Attempts().meet(seat(0, 3), Attempts.PATIENCE).meet(seat(1, 3), SHORT);
        assertThat(attempts.failure(1)).hasMessageContaining("missing=2 ");

        attempts.meet(seat(1, 3), Attempts.PATIENCE).meet(seat(2, 3), Attempts.PATIENCE);

        assertThat(attempts.meeting(0).key()).isEqualTo(attempts.meeting(2).key());
    }

    @Test
    void anotherMachineIsRefused() {
        assertThatThrownBy(() -> Rendezvous.meet("tcp://192.0.2.1:29500?rank=0&world_size=2", SHORT))
                .hasMessageContaining("another machine")
                .hasMessageContaining("larder launch --nnodes");
    }
}
