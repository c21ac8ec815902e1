package dev.larder.cluster;

import dev.larder.distributed.internal.meeting.Link;
import dev.larder.launch.process.NodePlace;
import dev.larder.launch.process.OutputLine;
import dev.larder.message.OptionalField;
import java.util.List;

/**
 * The messages between a node and the leader: an object with one member, named like the record, such as {@code
 * {"failing":{"round":0,"rank":3}}}. Other fields are ignored.
 */
sealed interface Message {
    /** The longest message: a list of sources has a line for each file. */
    int MAX_BYTES = 64 << 20;

    /** The protocol of a node and the leader. */
    Link.Protocol<Message> PROTOCOL = new Link.Protocol<>("LARDRDZV", 6, Message.class, MAX_BYTES, MAX_BYTES);

    /** The sender lives. */
    record Ping() implements Message {}

    /**
     * A node introduces itself and its program.
     *
     * @param token of the leader's own node; empty for others
     * @param nodeRank −1 if it has none
     * @param boot with {@code store} and {@code place}: see {@link NodeIdentity}
     */
    record Hello(
            String token,
            String runName,
            int nodeRank,
            String host,
            String boot,
            String store,
            String place,
            String storePath,
            String nnodes,
            int ranks,
            int maxRestarts,
            String command,
            String data)
            implements Message {}

    /** The leader takes a node in. */
    record Seated(boolean isLate, String leader) implements Message {}

    /** The leader refuses a node. */
    record Refused(String reason) implements Message {}

    /** The leader requests a list of the sources from its own node. */
    record ListSources() implements Message {}

    /** The leader requests that a node loads the data. */
    record Load(String listing, int node, int nodes) implements Message {}

    /** The leader requests that a node notes the whole datasets of its shards, which all nodes have proved. */
    record Keep(String wholes) implements Message {}

    /** An answer to a request of the leader about the data; {@code text} is the reason if the exit code is not 0. */
    interface OfData {
        int exitCode();

        String text();
    }

    /** A node has listed the sources, or failed to. */
    record Listed(int exitCode, String text) implements Message, OfData {}

    /** A node has loaded the data, or failed to. */
    record Loaded(int exitCode, String text, String proof, int node, int nodes) implements Message, OfData {}

    /** A node has kept the wholes, or failed to. */
    record Kept(int exitCode, String text) implements Message, OfData {}

    /** The leader starts a round: all nodes start their ranks. */
    record Start(NodePlace place) implements Message {}

    /** A node has a rank that failed, and ends its others. */
    record Failing(int round, int rank) implements Message {}

    /** The leader ends a round: all nodes end their ranks. */
    record Halt(int round, StopKind kind, String reason) implements Message {}

    /**
     * A node's ranks have all ended.
     *
     * @param exitCode the exit code of the first rank that failed; the next three values also belong to it
     * @param isFinal whether a restart would not help
     * @param ageNanos the time since its failure
     * @param what its failure, for users
     * @param lines its last lines
     */
    record Over(int round, Outcome outcome, int exitCode, boolean isFinal, long ageNanos, String what, String lines)
            implements Message {
        enum Outcome {
            SUCCESS,
            FAILURE,
            /** They received a request to end. */
            ENDED
        }

        /** Makes one without a failure. */
        static Over of(int round, Outcome outcome) {
            return new Over(round, outcome, 0, false, 0, "", "");
        }
    }

    /** Lines of one stream of a rank, in their order. */
    record Lines(int rank, List<Line> lines) implements Message {
        static Lines of(int rank, List<OutputLine> lines) {
            return new Lines(
                    rank,
                    lines.stream()
                            .map(line -> new Line(line.raw(), line.isError(), line.isOverwritten()))
                            .toList());
        }

        List<OutputLine> outputLines() {
            return lines.stream()
                    .map(line -> new OutputLine(line.raw, line.isError, line.isOverwritten))
                    .toList();
        }
    }

    /** See {@link OutputLine}; a character of {@code raw} is a byte, so that no byte is lost. */
    record Line(
            String raw,
            @OptionalField boolean isError,
            @OptionalField boolean isOverwritten) {}

    /** The run is to stop. */
    record Stop(StopKind kind) implements Message {}

    /** The leader ends the run. */
    record Final(int exitCode, String message) implements Message {}
}
