package dev.larder.distributed.internal.meeting;

import java.util.List;

/** The messages of a rank and rank 0 while they meet, and of nodes that have met. */
sealed interface MeetingMessage {
    /** The longest card, in bytes of UTF-8: it lists all ranks of a node. */
    int MOST_CARD_BYTES = 24 << 10;

    /** The longest message, but for the cards of all ranks: JSON escapes some characters of a card. */
    int MOST_BYTES = 2 * MOST_CARD_BYTES + (16 << 10);

    /** Returns the protocol of a meeting of this many ranks. */
    static Link.Protocol<MeetingMessage> protocol(int worldSize) {
        return new Link.Protocol<>("LARDRNKS", 4, MeetingMessage.class, MOST_BYTES, MOST_BYTES * (1 + worldSize / 32));
    }

    /** A rank introduces itself; {@code job} is a digest of the job's name. */
    record Hello(int rank, int worldSize, long pid, String job, String card) implements MeetingMessage {
        static Hello of(RankSeat seat) {
            return new Hello(
                    seat.rank(),
                    seat.worldSize(),
                    ProcessHandle.current().pid(),
                    Keys.text(Keys.digest(List.of(seat.job()))),
                    seat.card());
        }
    }

    /** Ranks that have not come yet. */
    record Missing(String ranks) implements MeetingMessage {}

    /** All ranks have come; the cards are in the order of the ranks, or absent. */
    record Met(String key, List<String> cards) implements MeetingMessage {}

    /** Rank 0 refuses a rank. */
    record Refused(String reason) implements MeetingMessage {}

    /** The deadline of rank 0 has passed without these ranks. */
    record GaveUp(String missing) implements MeetingMessage {}

    /** The group of the sender, a node, is broken. */
    record Broken(int code, String text) implements MeetingMessage {}

    /** The sender, a node, has closed its group. */
    record Left() implements MeetingMessage {}
}
