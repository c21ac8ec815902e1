package dev.larder.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.cluster.Nodes.Node;
import dev.larder.distributed.internal.meeting.Link;
import dev.larder.distributed.internal.meeting.Outbox;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes whose data is brought by a fake before their ranks start. */
class NodeDataTest {
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

    /** Has what it is told, and keeps what it is asked. */
    private static class FakeData implements NodeData {
        private final List<String> asked = new CopyOnWriteArrayList<>();
        private final String digest;
        private final String listing;

        private FakeData(String digest) {
            this(digest, "a file of 7 bytes");
        }

        private FakeData(String digest, String listing) {
            this.digest = digest;
            this.listing = listing;
        }

        @Override
        public String wanted() {
            return "train=/data";
        }

        @Override
        public String list() {
            asked.add("list");
            return listing;
        }

        @Override
        public Loaded load(String text, int node, int count) {
            asked.add("load " + text);
            if (digest.equals("broken")) {
                throw new LinkageError("no such class");
            }
            if (digest.equals("full")) {
                throw Failure.of(ErrorCode.NO_SPACE, "no room").remedy("make some");
            }
            return new Loaded(digest, "");
        }
    }

    @Test
    void theLeaderListsOnceAndEachNodeLoadsOnceWhateverItsRanksDo() {
        FakeData one = new FakeData("abc");
        FakeData two = new FakeData("abc");
        // only the rank of the other node fails: a rank that fails ends the other, perhaps before its line
        nodes.of("2:2", 1, "echo up; [ $RANK = 0 ] || [ $TORCHELASTIC_RESTART_COUNT = 1 ]")
                .restarting(1);
        Node leader = nodes.with(one).start(0);
        Node other = nodes.with(two).start(1);

        assertThat(leader.join().exitCode()).isZero();
        assertThat(other.join().exitCode()).isZero();
        assertThat(one.asked).containsExactly("list", "load a file of 7 bytes");
        assertThat(two.asked).containsExactly("load a file of 7 bytes");
        assertThat(other.lines()).hasSize(2);
    }

    @Test
    void aSourceThatChangedBetweenNodesIsRefusedBeforeARankStarts() {
        nodes.of("2:2", 1, "echo up");
        Node leader = nodes.with(new FakeData("abc")).start(0);
        Node other = nodes.with(new FakeData("abd")).start(1);

        assertThat(leader.join().exitCode()).isEqualTo(ErrorCode.BAD_INPUT.number());
        assertThat(other.join().message())
                .contains("the source changed between nodes: node=node 1 (", "has=abd node=node 0 (", "has=abc");
        assertThat(leader.lines()).isEmpty();
    }

    @Test
    void aNodeWithoutRoomEndsTheRunAndIsNamed() {
        nodes.of("2:2", 1, "echo up");
        Node leader = nodes.with(new FakeData("abc")).start(0);
        Node other = nodes.with(new FakeData("full")).start(1);

        assertThat(other.join().exitCode()).isEqualTo(ErrorCode.NO_SPACE.number());
        assertThat(leader.join().message())
                .contains("a node has not loaded the data: node=node 1 (", "reason=no room; make some");
        assertThat(leader.lines()).isEmpty();
    }

    @Test
    void aNodeWhoseOwnProgramFailsSaysSo() {
        nodes.of("2:2", 1, "echo up");
        Node leader = nodes.with(new FakeData("abc")).start(0);
        Node other = nodes.with(new FakeData("broken")).start(1);

        assertThat(other.join().exitCode()).isEqualTo(ErrorCode.UNEXPECTED.number());
        assertThat(leader.join().message())
                .contains("a node has not loaded the data: node=node 1 (", "LinkageError: no such class");
    }

    @Test
    void aNodeThatIsLostWhileItLoadsIsWaitedForAndTheRestGoesOn() throws IOException {
        CountDownLatch released = new CountDownLatch(1);
        NodeData slow = new NodeData() {
            @Override
            public String wanted() {
                return "train=/data";
            }

            @Override
            public String list() {
                return "";
            }

            @Override
            public Loaded load(String listing, int node, int count) {
                try {
                    released.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                return new Loaded("abc", "");
            }
        };
        nodes.of("1:2", 1, "echo up $WORLD_SIZE");
        try (Wire wire = new Wire(nodes.port())) {
            Node leader = nodes.with(new FakeData("abc")).start(0);
            Node other = nodes.with(slow).start(Nodes.by(wire.port(), nodes.options(1)));
            Awaitility.await()
                    .atMost(Nodes.PATIENCE)
                    .until(() -> leader.said().isEmpty() && !other.said().isEmpty());

            wire.cut();

            assertThat(leader.join().exitCode()).isZero();
            assertThat(leader.lines()).containsExactly("up 1");
            released.countDown();
        }
    }

    @Test
    void ctrlCWhileTheDataComeEndsTheRunWhereverItIsPressed() throws InterruptedException {
        CountDownLatch released = new CountDownLatch(1);
        NodeData slow = new FakeData("abc") {
            @Override
            public Loaded load(String text, int node, int count) {
                Loaded loaded = super.load(text, node, count);
                try {
                    released.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                return loaded;
            }
        };
        nodes.of("1:2", 1, "echo up");
        Node leader = nodes.with(slow).start(0);
        Node other = nodes.with(slow).start(1);
        Awaitility.await().atMost(Nodes.PATIENCE).until(() -> ((FakeData) slow).asked.size() == 3);

        other.launch().interrupt();

        assertThat(other.join().exitCode()).isEqualTo(130);
        assertThat(leader.join().exitCode()).isEqualTo(130);
        assertThat(leader.join().message()).contains("the run was stopped: by=SIGINT at node 1 (");
        assertThat(leader.lines()).isEmpty();
        released.countDown();
    }

    /** Has a shard on each node, and says which it was asked for. */
    private static final class CutData implements NodeData {
        private final List<String> asked = new CopyOnWriteArrayList<>();
        private final String whole;

        private CutData(String whole) {
            this.whole = whole;
        }

        @Override
        public String wanted() {
            return "train:shard";
        }

        @Override
        public boolean isCut() {
            return true;
        }

        @Override
        public String list() {
            return "";
        }

        @Override
        public Loaded load(String listing, int node, int count) {
            asked.add("load " + node + "/" + count);
            return new Loaded("", node + " of " + whole);
        }

        @Override
        public String agree(List<String> proofs) {
            asked.add("agree " + proofs);
            if (proofs.stream().map(proof -> proof.substring(1)).distinct().count() > 1) {
                throw Failure.of(ErrorCode.BAD_INPUT, "they differ")
                        .with("node", "#1")
                        .exception();
            }
            return "train " + whole;
        }

        @Override
        public void keep(String wholes) {
            asked.add("keep " + wholes);
        }
    }

    @Test
    void shardsAreProvedOnceAndKnownToAllBeforeARankStarts() {
        CutData one = new CutData("abc");
        CutData two = new CutData("abc");
        nodes.of("2:2", 1, "echo up; [ $TORCHELASTIC_RESTART_COUNT = 1 ]").restarting(1);
        Node leader = nodes.with(one).start(0);
        Node other = nodes.with(two).start(1);

        assertThat(leader.join().exitCode()).isZero();
        assertThat(other.join().exitCode()).isZero();
        assertThat(one.asked.subList(0, 3)).containsExactly("load 0/2", "agree [0 of abc, 1 of abc]", "keep train abc");
        assertThat(two.asked.subList(0, 2)).containsExactly("load 1/2", "keep train abc");
        assertThat(two.asked).filteredOn(what -> what.startsWith("load")).hasSize(1);
    }

    @Test
    void shardsThatAreNotOfOneWholeEndTheRunWithTheNameOfTheNode() {
        nodes.of("2:2", 1, "echo up");
        Node leader = nodes.with(new CutData("abc")).start(0);
        Node other = nodes.with(new CutData("abd")).start(1);

        assertThat(leader.join().exitCode()).isEqualTo(ErrorCode.BAD_INPUT.number());
        assertThat(other.join().message()).contains("they differ: node=node 1 (");
        assertThat(leader.lines()).isEmpty();
    }

    @Test
    void aNodeThatComesForALostOneLoadsItsShardAndAnotherNumberOfNodesLoadsAnew() throws IOException {
        CutData one = new CutData("abc");
        CutData two = new CutData("abc");
        nodes.of("1:2", 1, "echo up $WORLD_SIZE; [ $WORLD_SIZE = 1 ] || exec sleep 600");
        try (Wire wire = new Wire(nodes.port())) {
            Node leader = nodes.with(one).start(0);
            Node other = nodes.with(two).start(Nodes.by(wire.port(), nodes.options(1)));
            Awaitility.await()
                    .atMost(Nodes.PATIENCE)
                    .until(() -> !leader.lines().isEmpty() && !other.lines().isEmpty());

            wire.cut();

            assertThat(leader.join().exitCode()).isZero();
            assertThat(leader.lines()).containsExactly("up 2", "up 1");
            assertThat(one.asked).filteredOn(what -> what.startsWith("load")).containsExactly("load 0/2", "load 0/1");
        }
    }

    @Test
    void aNodeThatDoesNotReadKeepsNobodyElseWaiting() throws Exception {
        // given: a node that is alive, and takes none of a list that is longer than the buffers of a connection
        FakeData one = new FakeData("abc", "a file\n".repeat(1 << 20));
        FakeData two = new FakeData("abc", "");
        nodes.of("3:3", 1, "echo up")
                .lostAfter(Duration.ofSeconds(6)); // in which it pings often, on a busy machine too
        Node leader = nodes.with(one).start(0);
        NodeOptions deaf = nodes.with(two).options(1);
        try (Link<Message> link = new LeaderCall(deaf).connect("", Deadline.after(Nodes.PATIENCE));
                Outbox<Message> alive = new Outbox<>(link, Duration.ofMillis(200), new Message.Ping())) {
            alive.send(new Message.Ping());
            Node other = nodes.start(2);
            Awaitility.await().atMost(Nodes.PATIENCE).until(() -> one.asked.size() == 2 && two.asked.size() == 1);

            Thread.sleep(deaf.times().silence().multipliedBy(2).toMillis());
            other.launch().interrupt();

            assertThat(other.join().exitCode()).isEqualTo(130);
            assertThat(leader.said()).noneMatch(text -> text.contains("cause=silent"));
        }
    }
}
