package dev.larder.distributed.internal;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What the leader of a node tells those of the others when they meet.
 *
 * @param ranks of the group that are on the node
 * @param pid of the leader
 * @param host what the node is called
 * @param store which store its ranks share; no two nodes have the same
 * @param transport which transport it uses
 * @param address where that finds it
 * @param windowByteSize how much goes at a time
 */
public record NodeCard(
        List<Integer> ranks,
        long pid,
        String host,
        String store,
        String transport,
        String address,
        int windowByteSize) {
    private static final String SEPARATOR = " ";
    private static final int FIELDS = 7;

    /** Writes it as one line. */
    public String text() {
        return String.join(
                SEPARATOR,
                ranksText(),
                Long.toString(pid),
                host,
                store,
                transport,
                address,
                Integer.toString(windowByteSize));
    }

    /** Writes ranks in a row as {@code 4-7}, so that those of large nodes fit a line. */
    private String ranksText() {
        boolean isRow = true;
        for (int i = 1; i < ranks.size(); i++) {
            isRow = isRow && ranks.get(i) == ranks.get(0) + i;
        }
        return isRow
                ? ranks.get(0) + "-" + ranks.get(ranks.size() - 1)
                : ranks.stream().map(rank -> Integer.toString(rank)).collect(Collectors.joining(","));
    }

    /** Reads a line. */
    public static NodeCard parse(String text) {
        String[] fields = text.split(SEPARATOR, -1);
        try {
            if (fields.length == FIELDS) {
                return new NodeCard(
                        ranks(fields[0]),
                        Long.parseLong(fields[1]),
                        fields[2],
                        fields[3],
                        fields[4],
                        fields[5],
                        Integer.parseInt(fields[6]));
            }
        } catch (NumberFormatException e) {
            throw unreadable(text);
        }
        throw unreadable(text);
    }

    private static List<Integer> ranks(String text) {
        int dash = text.indexOf('-');
        if (dash > 0) {
            int first = Integer.parseInt(text.substring(0, dash));
            int last = Integer.parseInt(text.substring(dash + 1));
            return IntStream.rangeClosed(first, last).boxed().toList();
        }
        return Arrays.stream(text.split(",", -1)).map(Integer::valueOf).toList();
    }

    private static RuntimeException unreadable(String text) {
        return Failure.of(ErrorCode.BAD_INPUT, "another node says what cannot be read")
                .with("card", text)
                .remedy("use the same Larder release on all nodes");
    }

    /** Returns the layout of a group by the cards of its nodes; fails where they do not fit together. */
    public static RankLayout layout(List<NodeCard> cards, int worldSize) {
        int[] blockOf = new int[worldSize];
        Arrays.fill(blockOf, -1);
        for (int node = 0; node < cards.size(); node++) {
            NodeCard card = cards.get(node);
            for (int other = 0; other < node; other++) {
                requireFit(cards.get(other), other, card, node);
            }
            for (int rank : card.ranks) {
                if (rank < 0 || rank >= worldSize || blockOf[rank] >= 0) {
                    throw doNotFit(cards, worldSize);
                }
                blockOf[rank] = node;
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
