package dev.larder.distributed.rendezvous;

import dev.larder.distributed.rendezvous.Handshake.Side;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What ranks and rank 0 say to each other; numbers are little-endian. A rank says hello, rank 0 sends a challenge, the rank proves that
 * it knows the run's secret, and rank 0 answers until it closes, or keeps the connection for what nodes tell each other. The answer
 * that all have met has a proof of rank 0 in it. The secret itself is never sent.
 *
 * <pre>
 *   hello   0        8         12      16           20         24    32           48      80
 *           | magic  | version | rank  | world size | (unused) | pid | job digest | nonce |
 *
 *   proof   0        8         40            44
 *           | magic  | HMAC    | card length | card, UTF-8 |     of Handshake: the hello, the challenge and the card
 *
 *   answer  0        8         12      16       20
 *           | magic  | version | kind  | length | text, UTF-8, length bytes |
 * </pre>
 */
final class MeetingProtocol {
    static final int HELLO_LENGTH = 80;
    static final int PROOF_HEADER_LENGTH = 44;
    static final int MAX_CARD_LENGTH = 512;
    static final int ANSWER_HEADER_LENGTH = 20;
    static final int MAX_TEXT_LENGTH = 4096;

    static final int VERSION = 3;
    private static final long HELLO_MAGIC = magic("larderHI");
    private static final long PROOF_MAGIC = magic("larderPR");
    private static final long ANSWER_MAGIC = magic("larderOK");
    private static final String NAME = "larder ranks";

    private MeetingProtocol() {}

    private static long magic(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getLong();
    }

    /** What rank 0 says. */
    enum Kind {
        /** Ranks that have not come yet. More follows. */
        MISSING(1),
        /** All have come; the text is what {@link #met} writes. */
        MET(2),
        /** This rank cannot take part; the text says why. */
        REFUSED(3),
        /** The deadline of rank 0 has passed; the text is the ranks that did not come. */
        GAVE_UP(4),
        /** The text is a number that rank 0 has drawn, in hexadecimal digits; a proof is to follow. */
        CHALLENGE(5),
        /** Of nodes that have met: the sender's group is broken; the text is the code and why. */
        BROKEN(6),
        /** Of nodes that have met: the sender has closed its group. */
        LEFT(7);

        private final int number;

        Kind(int number) {
            this.number = number;
        }

        private static @Nullable Kind ofNumber(int number) {
            for (Kind kind : values()) {
                if (kind.number == number) {
                    return kind;
                }
            }
            return null;
        }
    }

    /** Returns an empty buffer for a hello or an answer. */
    static ByteBuffer allocate(int byteSize) {
        return ByteBuffer.allocate(byteSize).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Who says hello.
     *
     * @param version of the protocol; the rest means nothing where it is another
     * @param isSameJob whether the job of whoever reads this is meant
     */
    record Hello(int version, int rank, int worldSize, long pid, boolean isSameJob) {}

    static ByteBuffer hello(RankSeat seat, byte[] nonce) {
        return allocate(HELLO_LENGTH)
                .putLong(HELLO_MAGIC)
                .putInt(VERSION)
                .putInt(seat.rank())
                .putInt(seat.worldSize())
                .putInt(0)
                .putLong(ProcessHandle.current().pid())
                .put(digest(seat))
                .put(nonce)
                .flip();
    }

    /** Tells whether what has been read so far can become a hello: strangers need not be waited for. */
    static boolean beginsHello(ByteBuffer read) {
        return begins(read, HELLO_MAGIC);
    }

    static Hello decodeHello(ByteBuffer hello, RankSeat reader) {
        byte[] digest = new byte[Keys.BYTES];
        hello.get(32, digest);
        return new Hello(
                hello.getInt(8),
                hello.getInt(12),
                hello.getInt(16),
                hello.getLong(24),
                Arrays.equals(digest, digest(reader)));
    }

    /** Returns how a rank and rank 0 prove that they know the secret. */
    static Handshake handshake(RunSecret secret, byte[] hello, byte[] challenge) {
        return new Handshake(secret, NAME, hello, challenge);
    }

    /** Proves to rank 0 that this rank knows the secret, and hands it the card. */
    static ByteBuffer proof(RankSeat seat, Handshake handshake) {
        byte[] card = seat.card().getBytes(StandardCharsets.UTF_8);
        if (card.length > MAX_CARD_LENGTH) {
            throw new IllegalArgumentException("card of " + card.length + " bytes: " + seat.card());
        }
        return allocate(PROOF_HEADER_LENGTH + card.length)
                .putLong(PROOF_MAGIC)
                .put(handshake.proof(Side.GUEST, card))
                .putInt(card.length)
                .put(card)
                .flip();
    }

    /** Tells whether a proof has all come; fails where it is none. */
    static boolean isWholeProof(ByteBuffer read) throws NotOursException {
        if (!begins(read, PROOF_MAGIC)) {
            throw new NotOursException();
        }
        if (read.limit() < PROOF_HEADER_LENGTH) {
            return false;
        }
        int length = read.getInt(PROOF_HEADER_LENGTH - Integer.BYTES);
        if (length < 0 || length > MAX_CARD_LENGTH) {
            throw new NotOursException();
        }
        return read.limit() >= PROOF_HEADER_LENGTH + length;
    }

    /** Returns the card of a rank that has proved that it knows the secret; null where it has not. */
    static @Nullable String provedCard(Handshake handshake, ByteBuffer proof) {
        byte[] tag = new byte[RunSecret.PROOF_BYTES];
        proof.get(Long.BYTES, tag);
        byte[] card = new byte[proof.getInt(PROOF_HEADER_LENGTH - Integer.BYTES)];
        proof.get(PROOF_HEADER_LENGTH, card);
        return handshake.proves(tag, Side.GUEST, card) ? new String(card, StandardCharsets.UTF_8) : null;
    }

    /** What all know once they have met; cards are those of all ranks, in their order, or none. */
    record Met(String key, List<String> cards) {}

    /** Writes that all have met, with rank 0's proof to a rank that it knows the secret too. */
    static String met(Handshake handshake, Met met) {
        String text = met.key() + "\n" + String.join("\n", met.cards());
        byte[] proof = handshake.proof(Side.HOST, text.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(proof) + "\n" + text;
    }

    /** Reads {@link #met}; null where whoever wrote it does not know the secret. */
    static @Nullable Met decodeMet(Handshake handshake, String text) {
        int end = 2 * RunSecret.PROOF_BYTES;
        if (text.length() <= end || text.charAt(end) != '\n' || !isHex(text.substring(0, end))) {
            return null;
        }
        String rest = text.substring(end + 1);
        byte[] proof = HexFormat.of().parseHex(text.substring(0, end));
        byte[] bytes = rest.getBytes(StandardCharsets.UTF_8);
        if (!handshake.proves(proof, Side.HOST, bytes)) {
            return null;
        }
        List<String> lines = List.of(rest.split("\n", -1));
        return new Met(lines.get(0), lines.subList(1, lines.size()));
    }

    /** Tells whether a text, which a stranger may have sent, is the challenge of a rank 0. */
    static boolean isChallenge(String text) {
        return text.length() == 2 * RunSecret.NONCE_BYTES && isHex(text);
    }

    private static boolean isHex(String text) {
        return text.length() % 2 == 0 && text.chars().allMatch(HexFormat::isHexDigit);
    }

    /** How long the text of an answer can be for ranks that bring cards, and those that do not. */
    static int textLimit(RankSeat seat) {
        return MAX_TEXT_LENGTH + (seat.card().isEmpty() ? 0 : seat.worldSize() * (MAX_CARD_LENGTH + 1));
    }

    static ByteBuffer answer(Kind kind, String text) {
        return answer(kind, text, MAX_TEXT_LENGTH);
    }

    static ByteBuffer answer(Kind kind, String text, int limit) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, limit);
        return allocate(ANSWER_HEADER_LENGTH + length)
                .putLong(ANSWER_MAGIC)
                .putInt(VERSION)
                .putInt(kind.number)
                .putInt(length)
                .put(bytes, 0, length)
                .flip();
    }

    /** One thing that rank 0 said. */
    record Answer(Kind kind, String text) {}

    /** Takes the next answer out of what has been read, from its start; null where it has not all come yet. */
    static @Nullable Answer takeAnswer(ByteBuffer read) throws NotOursException {
        read.flip();
        try {
            if (!begins(read, ANSWER_MAGIC)) {
                throw new NotOursException();
            }
            if (read.limit() < ANSWER_HEADER_LENGTH) {
                return null;
            }
            Kind kind = Kind.ofNumber(read.getInt(12));
            int length = read.getInt(16);
            if (read.getInt(8) != VERSION
                    || kind == null
                    || length < 0
                    || length > read.capacity() - ANSWER_HEADER_LENGTH) {
                throw new NotOursException();
            }
            if (read.limit() < ANSWER_HEADER_LENGTH + length) {
                return null;
            }
            byte[] text = new byte[length];
            read.position(ANSWER_HEADER_LENGTH).get(text);
            return new Answer(kind, new String(text, StandardCharsets.UTF_8));
        } finally {
            read.compact();
        }
    }

    /** Thrown where something else than rank 0 of this version answers. */
    static final class NotOursException extends Exception {
        private static final long serialVersionUID = 1;
    }

    private static boolean begins(ByteBuffer read, long magic) {
        int known = Math.min(Long.BYTES, read.limit());
        for (int i = 0; i < known; i++) {
            if (read.get(i) != (byte) (magic >>> (8 * i))) {
                return false;
            }
        }
        return true;
    }

    private static byte[] digest(RankSeat seat) {
        return Keys.digest(List.of(seat.job()));
    }
}
