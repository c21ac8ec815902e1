package dev.larder.cluster;

import static dev.larder.cluster.Nodes.awaitLines;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.cluster.Nodes.Node;
import dev.larder.distributed.internal.meeting.Endpoint;
import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.testing.Processes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes of one run in this JVM, over the loopback interface. */
class NodeLaunchTest {
    private static final String SLEEPS = "echo up $RANK $WORLD_SIZE $TORCHELASTIC_RESTART_COUNT pid $$; exec sleep 600";

    @TempDir
    Path folder;

    private Nodes nodes;

    @BeforeEach
    void begin() {
        nodes = new Nodes(folder);
    }

    @AfterEach
    void end() {
        nodes.close();
    }

    private static AbstractThrowableAssert<?, ?> refusalOf(Node node) {
        return assertThatThrownBy(node::join)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED));
    }

    private static void awaitSaid(Node node, String text) {
        await().atMost(Nodes.PATIENCE).until(() -> node.said().stream().anyMatch(said -> said.contains(text)));
    }

    private static void assertThatNothingRuns(Node... all) {
        for (Node node : all) {
            node.lines().stream()
                    .map(line -> Long.valueOf(line.substring(line.lastIndexOf(' ') + 1)))
                    .forEach(Processes::awaitGone);
        }
    }

    @Test
    void ranksOfAllNodesFindWhatTorchrunSaysAndTheLeaderShowsTheirLines() {
        nodes.of(
                "3:3",
                2,
                "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $GROUP_RANK $GROUP_WORLD_SIZE $ROLE_RANK"
                        + " $ROLE_WORLD_SIZE $MASTER_ADDR $TORCHELASTIC_RESTART_COUNT $TORCHELASTIC_MAX_RESTARTS"
                        + " $LARDER_ATTEMPT $GLOO_SOCKET_IFNAME \"$LARDER_RDZV_SECRET\" $LARDER_RUN_ID:$MASTER_PORT");
        List<Node> all =
                IntStream.of(2, 0, 1).mapToObj(number -> nodes.start(number)).toList();

        assertThat(all).allSatisfy(node -> assertThat(node.join()).isEqualTo(new NodeResult(0, "")));
        Node leader = all.get(1);
        String last = leader.lines().get(0);
        String run = last.substring(last.lastIndexOf(' ') + 1);
        for (int rank = 0; rank < 6; rank++) {
            String line = rank + " " + rank % 2 + " 6 2 " + rank / 2 + " 3 " + rank
                    + " 6 127.0.0.1 0 0 0 lo a secret of sixteen or more " + run;
            assertThat(all.get((rank / 2 + 1) % 3).lines()).contains(line);
            if (rank >= 2) {
                assertThat(leader.others()).contains(rank + " " + line);
            }
        }
    }

    @Test
    void aLeaderReportsHowManyNodesItWaitsForAndWhere() {
        Node leader = nodes.of("3:4", 1, "true").start(0);
        nodes.start(1);

        awaitSaid(leader, "waiting for nodes");

        assertThat(leader.said())
                .first()
                .asString()
                .matches("waiting for nodes: nodes=2 needed=3 endpoint=127\\.0\\.0\\.1:" + nodes.port()
                        + " atMost=[67]s; start the same command on the other nodes, .*");
    }

    @Test
    void nodesWithoutANumberAreNumberedAsTheyCome() {
        nodes.of("2:2", 1, "echo $GROUP_RANK");
        Node first = nodes.start(Nodes.with(
                Nodes.unnumbered(nodes.options(0)),
                "run",
                nodes.options(0).endpoint(),
                Nodes.SECRET,
                folder.resolve("one")));
        awaitLeader();
        Node second = nodes.start(Nodes.with(
                Nodes.unnumbered(nodes.options(0)),
                "run",
                nodes.options(0).endpoint(),
                Nodes.SECRET,
                folder.resolve("two")));

        assertThat(first.join().exitCode()).isZero();
        assertThat(second.join().exitCode()).isZero();
        assertThat(first.lines()).containsExactly("0");
        assertThat(second.lines()).containsExactly("1");
    }

    private void awaitLeader() {
        await().atMost(Nodes.PATIENCE).until(() -> {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), nodes.port())) {
                return socket.isConnected();
            } catch (IOException notYet) {
                return false;
            }
        });
    }

    @Test
    void aRankThatFailsEndsTheRanksOfAllNodesAndIsNamedByAll() {
        nodes.of("2:2", 2, "[ $RANK = 3 ] && echo dismal && sleep 0.3 && exit 37; exec sleep 600");
        Node leader = nodes.start(0);
        Node other = nodes.start(1);

        assertThat(List.of(leader.join(), other.join())).allSatisfy(end -> {
            assertThat(end.exitCode()).isEqualTo(37);
            assertThat(end.message())
                    .contains("a rank failed: rank=3 pid=", "cause=exit code 37", "node=node 1 (", "[3] dismal");
        });
    }

    @Test
    void theRankThatDiedFirstIsNamedThoughAnotherNodeTellsFirst() {
        // given: rank 1 dies, and rank 0 fails because of it
        String pid = folder.resolve("pid").toString();
        nodes.of(
                "2:2",
                1,
                "if [ $RANK = 1 ]; then echo $$ >" + pid + "; sleep 0.3; exit 41; fi; while [ ! -s " + pid
                        + " ] || kill -0 $(cat " + pid + "); do sleep 0.02; done; sleep 0.1; exit 42");
        Node leader = nodes.start(0);
        Node other = nodes.start(1);

        assertThat(leader.join().exitCode()).isEqualTo(41);
        assertThat(other.join().message()).contains("rank=1 ");
    }

    @Test
    void allRanksStartAgainAfterAFailureWhileRestartsAreLeft() {
        nodes.of(
                        "2:2",
                        1,
                        "echo $TORCHELASTIC_RESTART_COUNT $LARDER_ATTEMPT; sleep 0.1; [ $RANK = 0 ] ||"
                                + " [ $TORCHELASTIC_RESTART_COUNT = 1 ]")
                .restarting(1);
        Node leader = nodes.start(0);
        Node other = nodes.start(1);

        assertThat(leader.join().exitCode()).isZero();
        assertThat(other.join().exitCode()).isZero();
        assertThat(leader.lines()).containsExactly("0 0", "1 1");
        assertThat(other.lines()).containsExactly("0 0", "1 1");
        awaitSaid(leader, "restarting the ranks of all nodes");
    }

    @Test
    void theRestGoesOnWithoutANodeThatIsLostAndTheNodeEndsItsRanks() throws IOException {
        nodes.of("1:2", 1, SLEEPS);
        try (Wire wire = new Wire(nodes.port())) {
            Node leader = nodes.start(0);
            Node other = nodes.start(Nodes.by(wire.port(), nodes.options(1)));
            awaitLines(other, 1, "up 1 2 0");

            wire.cut();

            awaitLines(leader, 1, "up 0 1 0");
            assertThat(leader.said())
                    .anyMatch(text ->
                            text.contains("a node is lost: node=node 1 (") && text.contains("cause=connection closed"));
            assertThatThrownBy(other::join).hasMessageContaining("the leader of the run is lost: node=0");
            leader.launch().kill();
            assertThat(leader.join().exitCode()).isEqualTo(137);
            assertThatNothingRuns(leader, other);
        }
    }

    @Test
    void aSilentNodeIsLostAndASilentLeaderToo() throws IOException {
        nodes.of("2:2", 1, SLEEPS);
        try (Wire wire = new Wire(nodes.port())) {
            Node leader = nodes.start(0);
            Node other = nodes.start(Nodes.by(wire.port(), nodes.options(1)));
            awaitLines(other, 1, "up 1 2 0");

            wire.silence();

            NodeResult end = leader.join();
            assertThat(end.exitCode()).isEqualTo(ErrorCode.DEADLINE.number());
            assertThat(end.message())
                    .contains("too few nodes are left: nodes=1 min=2", "lost=node 1 (", "cause=silent for 1 s");
            assertThatThrownBy(other::join)
                    .hasMessageContaining("the leader of the run is lost")
                    .hasMessageContaining("it has been silent for 1 s");
            assertThatNothingRuns(leader, other);
        }
    }

    @Test
    void aNodeThatComesAgainReplacesItselfBeforeItCountsAsLost() throws IOException {
        nodes.of("2:2", 1, SLEEPS);
        NodeOptions.Times times =
                new NodeOptions.Times(Duration.ofSeconds(10), Duration.ofSeconds(20), Duration.ofSeconds(20));
        try (Wire wire = new Wire(nodes.port())) {
            Node leader = nodes.start(within(times, nodes.options(0)));
            Node other = nodes.start(within(times, Nodes.by(wire.port(), nodes.options(1))));
            awaitLines(other, 1, "up 1 2 0");
            wire.silence();

            long begin = System.nanoTime();
            Node again = nodes.start(within(times, nodes.options(1)));

            awaitLines(again, 1, "up 1 2 0");
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(15));
            awaitSaid(leader, "cause=its machine has come again");
            again.launch().interrupt();
            assertThat(leader.join().exitCode()).isEqualTo(130);
        }
    }

    private static NodeOptions within(NodeOptions.Times times, NodeOptions of) {
        return new NodeOptions(
                of.runName(),
                of.endpoint(),
                of.nodeRank(),
                of.minNodes(),
                of.maxNodes(),
                of.secret(),
                of.store(),
                of.plan(),
                times,
                of.forwards(),
                of.data());
    }

    @Test
    void aNodeThatComesBackInTimeTakesItsPlaceAgain() throws IOException {
        nodes.of("2:2", 1, SLEEPS);
        NodeOptions.Times times =
                new NodeOptions.Times(Duration.ofSeconds(10), Duration.ofSeconds(20), Duration.ofSeconds(1));
        try (Wire wire = new Wire(nodes.port())) {
            Node leader = nodes.start(within(times, nodes.options(0)));
            Node other = nodes.start(Nodes.by(wire.port(), nodes.options(1)));
            awaitLines(other, 1, "up 1 2 0");
            awaitLines(leader, 1, "up 0 2 0");
            wire.cut();
            awaitSaid(leader, "a node is lost");

            Node again = nodes.start(1);

            awaitLines(again, 1, "up 1 2 0");
            awaitLines(leader, 2, "up 0 2 0");
            again.launch().interrupt();
            assertThat(leader.join().exitCode()).isEqualTo(130);
            assertThat(again.join().message()).contains("the run was stopped: by=SIGINT at node 1 (");
            assertThatNothingRuns(leader, other, again);
        }
    }

    @Test
    void aLateNodeTakesPartFromTheNextRestartOn() {
        String go = folder.resolve("go").toString();
        nodes.of(
                        "1:2",
                        1,
                        "echo up $RANK $WORLD_SIZE; if [ $WORLD_SIZE = 1 ]; then while [ ! -e " + go
                                + " ]; do sleep 0.02; done; exit 1; fi")
                .restarting(1);
        Node leader = nodes.start(0);
        awaitLines(leader, 1, "up 0 1");
        Node late = nodes.start(1);
        awaitSaid(late, "it runs already; waiting for its next restart");

        assertThat(Path.of(go).toFile().mkdir()).isTrue();

        assertThat(leader.join().exitCode()).isZero();
        assertThat(late.join().exitCode()).isZero();
        assertThat(late.lines()).containsExactly("up 1 2");
    }

    @Test
    void aLateNodeWhoseRanksNeverRanDoesNotReportSuccess() {
        String go = folder.resolve("go").toString();
        nodes.of("1:2", 1, "echo up; while [ ! -e " + go + " ]; do sleep 0.02; done");
        Node leader = nodes.start(0);
        awaitLines(leader, 1, "up");
        Node late = nodes.start(1);
        awaitSaid(late, "it runs already");

        assertThat(Path.of(go).toFile().mkdir()).isTrue();

        assertThat(leader.join()).isEqualTo(new NodeResult(0, ""));
        assertThat(late.join().exitCode()).isEqualTo(ErrorCode.REFUSED.number());
        assertThat(late.join().message())
                .contains("this launcher ran no rank", "nnodes=1:2 rdzvId=run; give another run its own --rdzv-id");
        assertThat(late.lines()).isEmpty();
    }

    @Test
    void oneLauncherMoreThanARunHasNodesIsRefused() {
        nodes.of("2:2", 1, SLEEPS);
        Node leader = nodes.start(0);
        Node other = nodes.start(1);
        awaitLines(other, 1, "up");

        refusalOf(nodes.start(nodes.extra()))
                .hasMessageContaining("the run has all its nodes: nnodes=2:2 rdzvId=run leader=");

        other.launch().terminate();
        assertThat(leader.join().exitCode()).isEqualTo(143);
        assertThatNothingRuns(leader, other);
    }

    @Test
    void aNameThatDoesNotResolveIsNamedWhileTheNodeWaits() {
        NodeOptions any = nodes.of("2:2", 1, "echo up").options(1);
        Node lost = nodes.start(
                Nodes.with(any, "run", new Endpoint("no-such-host.invalid", nodes.port()), Nodes.SECRET, any.store()));

        awaitSaid(lost, "endpoint=no-such-host.invalid:" + nodes.port() + " state=no such host atMost=10s");
    }

    @Test
    void ctrlCAtAnyNodeEndsTheRanksOfAll() {
        nodes.of("2:2", 1, SLEEPS);
        Node leader = nodes.start(0);
        Node other = nodes.start(1);
        awaitLines(other, 1, "up");
        awaitLines(leader, 1, "up");

        other.launch().terminate();

        assertThat(leader.join())
                .satisfies(end -> assertThat(end.exitCode()).isEqualTo(143))
                .satisfies(end -> assertThat(end.message()).contains("by=SIGTERM at node 1"));
        assertThat(other.join().exitCode()).isEqualTo(143);
        assertThatNothingRuns(leader, other);
    }

    @Test
    void aSignalThatEndsNothingReachesTheRanksOfItsNodeOnly() {
        String go = folder.resolve("go").toString();
        nodes.of(
                "2:2",
                1,
                "trap 'echo saved; mkdir " + go + "' USR1; echo up; until [ -e " + go + " ]; do sleep 0.02 || :; done");
        Node leader = nodes.start(0);
        Node other = nodes.start(1);
        awaitLines(other, 1, "up");
        awaitLines(leader, 1, "up");

        other.launch().signal("USR1");

        assertThat(leader.join().exitCode()).isZero();
        assertThat(other.join().exitCode()).isZero();
        assertThat(other.lines()).contains("saved");
        assertThat(leader.lines()).containsExactly("up");
    }

    @Test
    void aProgramThatDoesNotExistIsNotStartedAgainOnAnyNode() {
        nodes.of("2:2", 1, "echo up");
        Node leader = nodes.start(Nodes.running("no-such-program", nodes.options(0)));
        Node other = nodes.start(Nodes.running("no-such-program", nodes.options(1)));

        assertThat(List.of(leader.join(), other.join())).allSatisfy(end -> {
            assertThat(end.exitCode()).isEqualTo(127);
            assertThat(end.message()).contains("no such program: command=no-such-program", "attempt=1/4");
        });
    }

    @Test
    void aHangUpAtOneNodeIsTheExitCodeOfAllSoThatNoneStopsItsDaemon() {
        nodes.of("2:2", 1, SLEEPS);
        Node leader = nodes.start(0);
        Node other = nodes.start(1);
        awaitLines(other, 1, "up");
        awaitLines(leader, 1, "up");

        other.launch().hangUp();

        assertThat(leader.join())
                .satisfies(end -> assertThat(end.exitCode()).isEqualTo(129))
                .satisfies(end -> assertThat(end.message()).contains("by=SIGHUP at node 1"));
        assertThat(other.join().exitCode()).isEqualTo(129);
        assertThatNothingRuns(leader, other);
    }

    @Test
    void whatDoesNotBelongIsRefusedByNameBeforeARankStarts() {
        nodes.of("3:3", 1, "echo up");
        Node leader = nodes.start(0);
        Node second = nodes.start(1);
        awaitSaid(second, "joined the run");
        NodeOptions third = nodes.options(2);

        refusalOf(nodes.start(Nodes.with(
                        third, "run", third.endpoint(), RunSecret.of("another secret altogether"), third.store())))
                .hasMessageContaining("it has another secret");
        refusalOf(nodes.start(Nodes.with(third, "other", third.endpoint(), Nodes.SECRET, third.store())))
                .hasMessageContaining("another run uses this endpoint: rdzvId=run own=other");
        refusalOf(nodes.start(Nodes.with(
                        nodes.options(1), "run", third.endpoint(), Nodes.SECRET, folder.resolve("elsewhere"))))
                .hasMessageContaining("this node rank is taken: nodeRank=1 by=node rank 1 (");
        refusalOf(nodes.start(Nodes.with(
                        third,
                        "run",
                        third.endpoint(),
                        Nodes.SECRET,
                        nodes.options(1).store())))
                .hasMessageContaining("two nodes share one store: store=" + folder.resolve("store-1"));
        refusalOf(nodes.start(nodes.of("3:3", 2, "echo up").options(2))).hasMessageContaining("ranks=2 leader's=1");
        refusalOf(nodes.start(nodes.of("3:3", 1, "echo down").options(2)))
                .hasMessageContaining("the nodes differ in what they run: command=sh");
        refusalOf(nodes.start(nodes.of("3:3", 1, "echo up").options(0)))
                .hasMessageContaining("this node rank is taken: nodeRank=0");

        assertThat(leader.lines()).isEmpty();
        assertThat(nodes.start(2).join().exitCode()).isZero();
        assertThat(second.join().exitCode()).isZero();
    }

    @Test
    void aMeetingThatNobodyComesToEndsByItsDeadlineAndSaysWhoIsThere() {
        nodes.of("2:2", 1, "echo up");
        NodeOptions hasty = hasty(nodes.options(0));

        assertThat(nodes.start(hasty).join().message())
                .contains("not all nodes came in time: nodes=1 min=2", "here=node rank 0 (");
        assertThatThrownBy(nodes.start(hasty(nodes.options(1)))::join)
                .hasMessageContaining("no node leads the run: endpoint=127.0.0.1:" + nodes.port());
    }

    private static NodeOptions hasty(NodeOptions of) {
        return new NodeOptions(
                of.runName(),
                of.endpoint(),
                of.nodeRank(),
                of.minNodes(),
                of.maxNodes(),
                of.secret(),
                of.store(),
                of.plan(),
                new NodeOptions.Times(Duration.ofMillis(200), Duration.ZERO, Duration.ofSeconds(1)),
                true,
                null);
    }

    @Test
    void aChangedByteEndsTheLink() throws IOException {
        nodes.of("1:2", 1, SLEEPS);
        try (Wire wire = new Wire(nodes.port())) {
            Node leader = nodes.start(0);
            Node other = nodes.start(Nodes.by(wire.port(), nodes.options(1)));
            awaitLines(other, 1, "up 1 2 0");

            wire.spoil();

            assertThatThrownBy(other::join).hasMessageContaining("the leader of the run is lost");
            awaitLines(leader, 1, "up 0 1 0");
        }
    }

    @Test
    void aFloodOfLinesNeitherFillsTheMemoryNorLosesTheRun() {
        nodes.of("2:2", 1, "if [ $RANK = 1 ]; then seq 300000; fi");
        Node leader = nodes.start(0);
        Node other = nodes.start(1);

        assertThat(leader.join().exitCode()).isZero();
        assertThat(other.join().exitCode()).isZero();
        assertThat(other.lines()).hasSize(300_000);
        assertThat(leader.others()).isNotEmpty();
    }

    @Test
    void offLoopbackThereMustBeASecret() throws IOException {
        Path file = Files.writeString(folder.resolve("secret"), "short");
        NodeOptions any = nodes.options(0);

        assertThatThrownBy(() -> Nodes.with(any, "run", new Endpoint("192.0.2.1", 29400), RunSecret.NONE, any.store()))
                .hasMessageContaining("needs the run's secret: endpoint=192.0.2.1:29400; set the same")
                .hasMessageContaining("export LARDER_RDZV_SECRET=$(openssl rand -hex 32)");
        assertThat(file.toFile().setReadable(false, false) && file.toFile().setReadable(true, true))
                .isTrue();
        assertThatThrownBy(() -> SecretFile.read(file)).hasMessageContaining("too short");
        assertThat(file.toFile().setReadable(true, false)).isTrue();
        assertThatThrownBy(() -> SecretFile.read(file)).hasMessageContaining("others can read");
    }

    @Test
    void twoNodesDoNotShareAStoreThatWasMadeSinceTheFirstCame() throws IOException {
        nodes.of("3:3", 1, "echo up");
        nodes.start(0);
        awaitSaid(nodes.start(1), "joined the run");
        NodeOptions third = nodes.options(2);

        Files.createDirectory(nodes.options(1).store());

        refusalOf(nodes.start(Nodes.with(
                        third,
                        "run",
                        third.endpoint(),
                        Nodes.SECRET,
                        nodes.options(1).store())))
                .hasMessageContaining("two nodes share one store");
    }

    @Test
    void aPlaceWhereNobodyCanListenOrNobodyCanComeIsRefused() {
        NodeOptions any = nodes.options(0);

        assertThatThrownBy(() -> Nodes.with(any, "run", new Endpoint("127.0.0.1", 0), Nodes.SECRET, any.store()))
                .hasMessageContaining("at a port that is drawn: endpoint=127.0.0.1:0; give all nodes the same port");
    }

    @Test
    void aNameThatLeadsItsMachineToItselfAloneIsNoPlaceToListenAt() throws IOException {
        InetAddress debians = InetAddress.getByAddress(new byte[] {127, 0, 1, 1});

        assertThat(new Endpoint("node1", 29400).isOnlyHere(debians)).isTrue();
        assertThat(List.of("localhost", "127.0.0.1", "::1"))
                .allSatisfy(host -> assertThat(new Endpoint(host, 29400).isOnlyHere(InetAddress.getByName(host)))
                        .isFalse());
    }
}
