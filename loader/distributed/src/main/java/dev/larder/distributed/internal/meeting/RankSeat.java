package dev.larder.distributed.internal.meeting;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.nio.charset.StandardCharsets;

/**
 * The place of a process at a meeting.
 *
 * @param rank the number of the rank
 * @param worldSize the number of ranks
 * @param job distinguishes jobs that use one address by mistake; may be empty
 * @param secret of the run
 * @param card one line for all other ranks; empty for all ranks or for none
 */
public record RankSeat(int rank, int worldSize, String job, RunSecret secret, String card) {
    /** More ranks than any machine runs; bounds the memory of a meeting. */
    static final int MAX_WORLD_SIZE = 4096;

    RankSeat(int rank, int worldSize, String job) {
        this(rank, worldSize, job, RunSecret.NONE, "");
    }

    /**
     * Returns the seat of the leader of a node at a meeting of nodes.
     *
     * @param key of their group: nodes with another one are refused
     */
    public static RankSeat ofNode(int node, int nodes, String key, RunSecret secret, String card) {
        return new RankSeat(node, nodes, "nodes of " + key, secret, card);
    }

    /** Checks the numbers and the card. */
    public RankSeat {
        if (worldSize < 1 || worldSize > MAX_WORLD_SIZE) {
            throw Failure.of(ErrorCode.BAD_INPUT, "bad world size")
                    .with("world_size", worldSize)
                    .remedy("give the number of ranks, from 1 to " + MAX_WORLD_SIZE);
        }
        if (rank < 0 || rank >= worldSize) {
            throw Failure.of(ErrorCode.BAD_INPUT, "bad rank")
                    .with("rank", rank)
                    .with("world_size", worldSize)
                    .remedy("ranks count from 0 to one less than the world size");
        }
        if (card.indexOf('\n') >= 0 || card.getBytes(StandardCharsets.UTF_8).length > MeetingMessage.MOST_CARD_BYTES) {
            throw new IllegalArgumentException("bad card: " + card);
        }
    }
}
