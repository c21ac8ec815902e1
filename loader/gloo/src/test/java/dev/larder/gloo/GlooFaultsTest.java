package dev.larder.gloo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.distributed.region.OwnFolder;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Processes;
import dev.larder.testing.Rounds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two nodes, each a process, that sum by Gloo: one is killed or stopped, or cannot be reached. */
@Tag("slow")
class GlooFaultsTest {
    private static final Rounds ROUNDS = Rounds.of("faults of Gloo", 3);
    private static final Duration PATIENT = Duration.ofMinutes(1);
    private static final Duration NOTICE = Duration.ofSeconds(10); // by the death, not by the deadline of a minute
    private static final Duration SHORT = Duration.ofSeconds(3);

    private final OwnFolder folder = new OwnFolder();
    private final List<ChildJvm> nodes = new ArrayList<>();

    @AfterEach
    void endNodes() {
        nodes.forEach(ChildJvm::close);
        folder.close();
    }

    private static int freePort() {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ChildJvm start(int node, String host, int port, String run, Duration timeout, Duration joinTimeout) {
        ChildJvm started = ChildJvm.start(
                GlooNode.class,
                folder.path().toString(),
                Integer.toString(node),
                host,
                Integer.toString(port),
                run,
                Long.toString(timeout.toMillis()),
                Long.toString(joinTimeout.toMillis()));
        nodes.add(started);
        return started;
    }

    /** Starts both nodes of a run, and waits until they sum. */
    private List<ChildJvm> startBoth(String run, Duration timeout) {
        int port = freePort();
        List<ChildJvm> both = List.of(
                start(0, "127.0.0.1", port, run, timeout, PATIENT), start(1, "127.0.0.1", port, run, timeout, PATIENT));
        both.forEach(node -> node.awaitLine("summed"));
        return both;
    }

    private static Duration since(long startNs) {
        return Duration.ofNanos(System.nanoTime() - startNs);
    }

    @Test
    void aNodeThatIsKilledWhileItSumsIsNamedLongBeforeTheDeadline() {
        for (int round = 0; round < ROUNDS.count(); round++) {
            List<ChildJvm> both = startBoth("killed-" + round, PATIENT);
            ChildJvm victim = both.get(round % 2);
            ChildJvm other = both.get(1 - round % 2);
            LockSupport.parkNanos(ROUNDS.momentNs(50)); // to kill it anywhere in a sum
            long startNs = System.nanoTime();

            victim.kill();

            assertThat(other.awaitLine("failed")).contains("node=" + round % 2, "leaderPid=" + victim.pid());
            assertThat(since(startNs)).isLessThan(NOTICE);
            assertThat(other.awaitExit()).as(other.errors()).isZero();
        }
    }

    @Test
    void aNodeThatIsStoppedWhileItSumsIsNamedAtTheDeadlineAndHearsItWhenItGoesOn() throws Exception {
        List<ChildJvm> both = startBoth("stopped", SHORT);
        long startNs = System.nanoTime();

        Processes.signal("STOP", both.get(1).pid());

        assertThat(both.get(0).awaitLine("failed"))
                .contains("DEADLINE", "node=1", "leaderPid=" + both.get(1).pid());
        assertThat(both.get(0).awaitExit()).isZero();
        assertThat(since(startNs)).isLessThan(SHORT.plus(NOTICE));
        Processes.signal("CONT", both.get(1).pid());
        assertThat(both.get(1).awaitLine("failed"))
                .contains("node=0", "leaderPid=" + both.get(0).pid());
        assertThat(both.get(1).awaitExit()).isZero();
    }

    @Test
    void anAddressWhereNobodyListensEndsTheJoinByItsDeadlineAndIsNamed() {
        int port = freePort();
        long startNs = System.nanoTime();

        ChildJvm alone = start(1, "127.0.0.1", port, "alone", PATIENT, SHORT);

        assertThat(alone.awaitLine("failed")).contains("DEADLINE", "127.0.0.1:" + port);
        assertThat(alone.awaitExit()).isZero();
        assertThat(since(startNs)).isLessThan(SHORT.plus(NOTICE));
    }

    @Test
    void anAddressThatIsNotThisMachinesIsRefusedByNameAtNodeZero() {
        ChildJvm leader = start(0, "192.0.2.1", freePort(), "elsewhere", PATIENT, SHORT);

        assertThat(leader.awaitLine("failed"))
                .contains("REFUSED", "node 0 does not have the address", "address=192.0.2.1");
        assertThat(leader.awaitExit()).isZero();
    }

    @Test
    void aStoreWhereNobodyListensIsNamedWithoutNativeFrames() {
        int port = freePort();
        ChildJvm client = ChildJvm.start(GlooClient.class, "127.0.0.1/" + port, Long.toString(SHORT.toMillis()));
        nodes.add(client);

        assertThat(client.awaitLine("failed"))
                .contains("Gloo's store at node 0 cannot be reached: address=127.0.0.1:" + port + " node=1 reason=")
                .doesNotContain("frame #");
        assertThat(client.awaitExit()).isZero();
    }

    @Test
    void twoRunsAtOnceSumApartAndOneGoesOnWhereTheOtherBreaks() {
        List<ChildJvm> first = startBoth("first", PATIENT);
        List<ChildJvm> second = startBoth("second", PATIENT);

        first.get(1).kill();

        assertThat(first.get(0).awaitLine("failed"))
                .contains("leaderPid=" + first.get(1).pid());
        for (ChildJvm node : second) {
            node.remainingLines();
            assertThat(node.awaitLine()).isEqualTo("summed");
            assertThat(node.awaitLine()).isEqualTo("summed");
        }
    }
}
