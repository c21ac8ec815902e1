package dev.larder.distributed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.distributed.internal.NodeCard;
import dev.larder.distributed.region.FolderRegions;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.rendezvous.RendezvousResult;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What goes wrong between nodes, with threads as ranks. */
@Tag("races")
class NodeFaultsTest {
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final Duration NOTICE = Duration.ofSeconds(5); // long before the deadline of a minute

    @TempDir
    Path folder;

    private static ProcessGroups patient(ProcessGroups groups) {
        return groups.timeout(Duration.ofMinutes(1));
    }

    private static ProcessGroups impatient(ProcessGroups groups) {
        return groups.timeout(SHORT);
    }

    private static void sum(ProcessGroup group) {
        group.allReduce(Span.of(new float[300_000]), ReduceOp.SUM);
    }

    private static void sumForEver(ProcessGroup group) {
        while (true) {
            sum(group);
        }
    }

    private static void requireAll(List<Optional<RuntimeException>> failures, ErrorCode code, String... words) {
        assertThat(failures).allSatisfy(failure -> {
            assertThat(failure.orElseThrow())
                    .isInstanceOf(LarderException.class)
                    .hasMessageContainingAll(words);
            assertThat(((LarderException) failure.orElseThrow()).code()).isEqualTo(code);
        });
    }

    @Test
    void differentCallsOfTwoNodesAreToldToAllRanksBeforeAByteIsSent() {
        try (NodeGang gang = new NodeGang(folder, "different", NodeFaultsTest::patient, 2, 1)) {
            requireAll(
                    gang.failures(group -> {
                        group.barrier();
                        if (group.rank() == 2) {
                            group.broadcast(Span.of(new int[5]), 1);
                        } else {
                            sum(group);
                        }
                        return "never";
                    }),
                    ErrorCode.BAD_INPUT,
                    "different calls",
                    "allReduce/FLOAT/SUM/1200000-bytes",
                    "broadcast/INT/root-1/20-bytes",
                    "node=1",
                    "ranks=2-2");
        }
    }

    @Test
    void aRankThatIsLateIsNamedOnBothNodes() {
        try (NodeGang gang = new NodeGang(folder, "late", NodeFaultsTest::impatient, 2, 1)) {
            requireAll(
                    gang.failures(group -> {
                        sum(group);
                        if (group.rank() == 1) {
                            Thread.sleep(4 * SHORT.toMillis());
                        }
                        sum(group);
                        return "never";
                    }),
                    ErrorCode.DEADLINE,
                    "missing=[1 (pid",
                    "node=0");
        }
    }

    @Test
    void aNodeThatIsLateIsNamedByTheOther() {
        try (NodeGang gang = new NodeGang(folder, "late-node", NodeFaultsTest::impatient, 2, 1)) {
            requireAll(
                    gang.failures(group -> {
                        sum(group);
                        if (group.rank() == 2) {
                            Thread.sleep(3000 + 4 * SHORT.toMillis());
                        }
                        sum(group);
                        return "never";
                    }),
                    ErrorCode.DEADLINE,
                    "another node did not arrive in time: node=1",
                    "ranks=2-2");
        }
    }

    @Test
    void aRankThatClosesWhileAnotherNodeNeedsItIsNamedThere() {
        try (NodeGang gang = new NodeGang(folder, "closed", NodeFaultsTest::patient, 2, 2)) {
            List<Optional<RuntimeException>> failures = gang.failures(group -> {
                sum(group);
                if (group.rank() == 3) {
                    group.close();
                    return "gone";
                }
                sum(group);
                return "never";
            });
            requireAll(
                    failures.subList(0, 3), ErrorCode.REFUSED, "has closed its process group", "rank=3 pid=", "node=1");
        }
    }

    @Test
    void aCutNetworkIsNoticedAtOnceAndNamesTheNodeBeyond() {
        try (Relay relay = new Relay();
                NodeGang gang = new NodeGang(folder, "cut", NodeFaultsTest::patient, 2, 1).by(relay::to)) {
            long startNs = System.nanoTime();
            List<Optional<RuntimeException>> failures = gang.failures(group -> {
                sum(group);
                if (group.rank() == 1) {
                    relay.cut();
                }
                sumForEver(group);
                return "never";
            });

            requireAll(failures.subList(0, 2), ErrorCode.UNEXPECTED, "node=1", "ranks=2-2");
            requireAll(failures.subList(2, 3), ErrorCode.UNEXPECTED, "node=0", "ranks=0-1");
            assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(NOTICE.multipliedBy(2));
        }
    }

    @Test
    void aNetworkThatLosesAllEndsByTheDeadlineAndNamesTheNodeBeyond() {
        try (Relay relay = new Relay();
                NodeGang gang = new NodeGang(folder, "lost", NodeFaultsTest::impatient, 2, 1).by(relay::to)) {
            List<Optional<RuntimeException>> failures = gang.failures(group -> {
                sum(group);
                relay.lose();
                sumForEver(group);
                return "never";
            });

            requireAll(failures.subList(0, 2), ErrorCode.DEADLINE, "did not arrive in time: node=1", "ranks=2-2");
            requireAll(failures.subList(2, 3), ErrorCode.DEADLINE, "did not arrive in time: node=0", "ranks=0-1");
        }
    }

    private static NodeCard card(String store, String transport, Long... ranks) {
        NodeCard card = new NodeCard(List.of(ranks), 17, "host", store, transport, "host:1", 1024);
        assertThat(NodeCard.parse(card.text())).isEqualTo(card);
        return card;
    }

    @Test
    void nodesThatDoNotFitTogetherAreRefusedByName() {
        assertThatThrownBy(() -> NodeCard.layout(List.of(card("a", "x", 0L, 1L), card("a", "x", 2L)), 3))
                .isInstanceOf(LarderException.class)
                .hasMessageContainingAll("two nodes share one store", "nodes=0,1", "LARDER_STORE");
        assertThatThrownBy(() -> NodeCard.layout(List.of(card("a", "x", 0L, 1L), card("b", "y", 2L)), 3))
                .hasMessageContaining("different transports: nodes=0,1 transports=x,y");
        assertThatThrownBy(() -> NodeCard.layout(List.of(card("a", "x", 0L, 1L), card("b", "x", 1L)), 3))
                .hasMessageContaining("do not make up the group: worldSize=3 ranks=0-1 1-1");
        assertThatThrownBy(() -> NodeCard.parse("GET / HTTP/1.1"))
                .hasMessageContaining("the card of another node cannot be read");
        assertThat(NodeCard.layout(List.of(card("a", "x", 0L, 2L), card("b", "x", 1L)), 3))
                .hasToString("[[0, 2], [1]]");
    }

    @Test
    void withoutATransportTheMessageNamesTheModuleToAdd() {
        RendezvousResult seat = new RendezvousResult(0, 2, 0, 1, 0, 2, "none");
        String place = "127.0.0.1:" + NodeGang.freePort();
        try (Regions regions = FolderRegions.in(folder)) {
            assertThatThrownBy(() -> ProcessGroups.of(regions, "none").join(seat, place, ""))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("no transport on the class path connects nodes")
                    .hasMessageContaining("dev.larder:larder-loader-gloo");
        }
    }
}
