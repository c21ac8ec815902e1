package dev.larder.distributed.internal;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.message.BadMessage;
import dev.larder.message.Messages;
import dev.larder.message.Messages.UnknownFields;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The properties of a node that the leaders of all nodes exchange when they meet.
 *
 * @param ranks of the group that are on the node
 * @param pid of the leader
 * @param host the name of the node
 * @param store the identity of the store of its ranks; no two nodes have the same
 * @param transport the name of its transport
 * @param address of the node for the transport
 * @param windowByteSize the size of a transfer
 */
public record NodeCard(
        List<Long> ranks, long pid, String host, String store, String transport, String address, int windowByteSize) {
    /** Returns the card as one line. */
    public String text() {
        byte[] bytes = Messages.encode(this);
        return new String(bytes, 0, bytes.length - 1, StandardCharsets.UTF_8); // without the NUL byte
    }

    /** Reads a card. */
    public static NodeCard parse(String text) {
        try {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            return Messages.decode(bytes, NodeCard.class, UnknownFields.REFUSED);
        } catch (BadMessage e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the card of another node cannot be read")
                    .with("card", text)
                    .with("reason", e)
                    .cause(e)
                    .remedy("use the same Larder release on all nodes");
        }
    }

    /** Returns the ranks for people; those in a row as {@code 4-7}. */
    private String ranksText() {
        boolean isRow = !ranks.isEmpty();
        for (int i = 1; i < ranks.size(); i++) {
            isRow = isRow && ranks.get(i) == ranks.get(0) + i;
        }
        return isRow
                ? ranks.get(0) + "-" + ranks.get(ranks.size() - 1)
                : ranks.stream().map(rank -> Long.toString(rank)).collect(Collectors.joining(","));
    }

    /** Returns the layout of a group by the cards of its nodes; fails if they do not match. */
    public static RankLayout layout(List<NodeCard> cards, int worldSize) {
        int[] blockOf = new int[worldSize];
        Arrays.fill(blockOf, -1);
        for (int node = 0; node < cards.size(); node++) {
            NodeCard card = cards.get(node);
            for (int other = 0; other < node; other++) {
                requireFit(cards.get(other), other, card, node);
            }
            for (long rank : card.ranks) {
                if (rank < 0 || rank >= worldSize || blockOf[(int) rank] >= 0) {
                    throw doNotFit(cards, worldSize);
                }
                blockOf[(int) rank] = node;
            }
        }
        if (Arrays.stream(blockOf).anyMatch(node -> node < 0)) {
            throw doNotFit(cards, worldSize);
        }
        return RankLayout.ofBlocks(blockOf);
    }

    private static RuntimeException doNotFit(List<NodeCard> cards, int worldSize) {
        return Failure.of(ErrorCode.BAD_INPUT, "the ranks of the nodes do not make up the group")
                .with("worldSize", worldSize)
                .with("ranks", cards.stream().map(NodeCard::ranksText).collect(Collectors.joining(" ")))
                .remedy("number ranks node by node: RANK is LOCAL_RANK plus the LOCAL_WORLD_SIZE of all nodes before");
    }

    private static void requireFit(NodeCard one, int oneNode, NodeCard other, int otherNode) {
        if (one.store.equals(other.store)) {
            throw Failure.of(ErrorCode.REFUSED, "two nodes share one store")
                    .with("nodes", oneNode + "," + otherNode)
                    .with("hosts", one.host + "," + other.host)
                    .remedy("give each node a store of its own (LARDER_STORE), or start its ranks as ranks of one"
                            + " node");
        }
        if (!one.transport.equals(other.transport) || one.windowByteSize != other.windowByteSize) {
            throw Failure.of(ErrorCode.BAD_INPUT, "nodes use different transports")
                    .with("nodes", oneNode + "," + otherNode)
                    .with("transports", one.transport + "," + other.transport)
                    .with("windowByteSizes", one.windowByteSize + "," + other.windowByteSize)
                    .remedy("start all nodes with the same class path and settings");
        }
    }

    /** Names the node in messages, after a space. */
    public String label(int node) {
        return " node=" + node + " host=" + host + " ranks=" + ranksText() + " leaderPid=" + pid;
    }
}
