package dev.larder.cluster;

import static dev.larder.cluster.Nodes.awaitLines;
import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.cluster.Nodes.Node;
import dev.larder.distributed.internal.meeting.Link;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A launcher more than the run has nodes, while one of the nodes sends nothing. */
class PlaceOfASilentNodeTest {
    @TempDir
    Path folder;

    private Nodes nodes;
    private Wire wire;

    @BeforeEach
    void begin() throws IOException {
        nodes = new Nodes(folder).of("2:2", 1, "echo up $RANK $WORLD_SIZE $TORCHELASTIC_RESTART_COUNT; exec sleep 600");
        wire = new Wire(nodes.port());
    }

    @AfterEach
    void end() throws IOException {
        nodes.close();
        wire.close();
    }

    /** Starts two nodes, and stops what one of them sends. Returns the leader. */
    private Node silenceOne(Duration lostAfter) {
        Node leader = nodes.lostAfter(lostAfter).start(0);
        Node other = nodes.start(Nodes.unnumbered(Nodes.by(wire.port(), nodes.options(1))));
        awaitLines(other, 1, "up 1 2 0");
        wire.silence();
        return leader;
    }

    private Link<Message> call() throws IOException, InterruptedException {
        return new LeaderCall(nodes.extra()).connect("", Deadline.after(Nodes.PATIENCE));
    }

    @Test
    void theLauncherTakesThePlaceWhenTheNodeIsLost() {
        Node leader = silenceOne(Duration.ofSeconds(3));

        Node extra = nodes.start(nodes.extra());

        awaitLines(extra, 1, "up 1 2 0");
        assertThat(leader.said()).anyMatch(text -> text.contains("cause=silent for 3 s"));
        extra.launch().interrupt();
        assertThat(leader.join().exitCode()).isEqualTo(130);
    }

    @Test
    void theLauncherHearsThatTheLeaderLives() throws IOException, InterruptedException {
        silenceOne(Duration.ofSeconds(5));

        try (Link<Message> caller = call()) {
            assertThat(caller.receive()).isEqualTo(new Message.Ping());
        }
    }

    @Test
    void theLauncherLeavesWhenItIsInterrupted() throws IOException, InterruptedException {
        silenceOne(Duration.ofSeconds(20));

        try (Link<Message> caller = call()) {
            caller.send(new Message.Stop(StopKind.INTERRUPT));
            Message answer = caller.receive();
            while (answer instanceof Message.Ping) {
                answer = caller.receive();
            }

            assertThat(answer).isEqualTo(new Message.Final(130, "stopped before it took part"));
        }
    }
}
