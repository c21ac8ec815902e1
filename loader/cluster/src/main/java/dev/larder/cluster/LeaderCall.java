package dev.larder.cluster;

import dev.larder.distributed.internal.meeting.Link;
import dev.larder.distributed.internal.meeting.Link.StrangerException;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import dev.larder.launch.process.LaunchPlan;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Calls the leader of a run until it answers, and introduces this node. */
final class LeaderCall {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final String REMEDY = "start the node whose address this is, and let others reach its port";

    private final NodeOptions options;
    private volatile String state = "no answer yet";

    LeaderCall(NodeOptions options) {
        this.options = options;
    }

    /** Returns the link after this node has introduced itself; {@code token} identifies the leader's own node, and is empty for others. */
    Link<Message> connect(String token, Deadline deadline) throws InterruptedException {
        Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
        while (true) {
            @Nullable Link<Message> link = tryOnce(token, deadline);
            if (link != null) {
                return link;
            }
            if (deadline.isOver()) {
                throw Failure.of(ErrorCode.DEADLINE, "no node leads the run")
                        .with("endpoint", options.endpoint().text())
                        .with("state", state)
                        .with("waited", deadline.timeout().toSeconds() + "s")
                        .remedy(REMEDY);
            }
            if (!backoff.pause(deadline)) {
                throw new InterruptedException();
            }
        }
    }

    /** Describes the wait for the leader. */
    String waiting() {
        return "waiting for the leader of the run: endpoint="
                + options.endpoint().text() + " state=" + state + " atMost="
                + options.times().meeting().toSeconds() + "s; " + REMEDY;
    }

    /** Calls once; null if there is no answer yet. */
    private @Nullable Link<Message> tryOnce(String token, Deadline deadline) throws InterruptedException {
        @Nullable Link<Message> link = null;
        boolean hasIntroducedItself = false;
        try {
            link = Link.call(options.endpoint(), Message.PROTOCOL, options.secret(), deadline);
            link.allow(options.times().silence(), Deadline.none());
            link.send(hello(token));
            hasIntroducedItself = true;
            return link;
        } catch (StrangerException e) {
            throw Failure.of(ErrorCode.REFUSED, "the listener at the rendezvous endpoint does not lead this run")
                    .with("endpoint", options.endpoint().text())
                    .with("reason", e)
                    .cause(e)
                    .remedy(
                            "give all nodes the same secret and release of Larder, and each run an endpoint of its own");
        } catch (IOException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedException();
            }
            state = Failure.words(e);
            return null;
        } finally {
            if (link != null && !hasIntroducedItself) {
                link.close();
            }
        }
    }

    private Message hello(String token) {
        LaunchPlan plan = options.plan();
        NodeData data = options.data();
        NodeIdentity identity = NodeIdentity.of(options.store());
        return new Message.Hello(
                token,
                options.runName(),
                options.nodeRank(),
                identity.host(),
                identity.boot(),
                identity.store(),
                identity.place(),
                options.store().toString(),
                options.minNodes() + ":" + options.maxNodes(),
                plan.worldSize(),
                plan.maxRestarts(),
                command(plan.words()),
                data == null ? "" : data.wanted());
    }

    /** Identifies a command without its arguments, which may be confidential. */
    private String command(List<String> words) {
        byte[][] texts = words.stream()
                .map(word -> word.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
        byte[] digest = options.secret().proof("command", texts);
        return words.get(0) + "…" + HexFormat.of().formatHex(digest, 0, 4);
    }
}
