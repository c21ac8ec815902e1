package dev.larder.distributed.rendezvous;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What ranks and rank 0 say to each other; numbers are little-endian. A rank says hello once, rank 0 answers until it closes.
 *
 * <pre>
 *   hello   0        8         12      16           20         24    32           48
 *           | magic  | version | rank  | world size | (unused) | pid | job digest |
 *
 *   answer  0        8         12      16       20
 *           | magic  | version | kind  | length | text, UTF-8, length bytes |
 * </pre>
 */
final class MeetingProtocol {
    static final int HELLO_LENGTH = 48;
    static final int ANSWER_HEADER_LENGTH = 20;
    static final int MAX_TEXT_LENGTH = 4096;

    static final int VERSION = 1;
    private static final long HELLO_MAGIC = magic("larderHI");
    private static final long ANSWER_MAGIC = magic("larderOK");

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
        /** All have come; the text is the key. */
        MET(2),
        /** This rank cannot take part; the text says why. */
        REFUSED(3),
        /** The deadline of rank 0 has passed; the text is the ranks that did not come. */
        GAVE_UP(4);

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

    static ByteBuffer hello(RankSeat seat) {
        return allocate(HELLO_LENGTH)
                .putLong(HELLO_MAGIC)
                .putInt(VERSION)
                .putInt(seat.rank())
                .putInt(seat.worldSize())
                .putInt(0)
                .putLong(ProcessHandle.current().pid())
                .put(digest(seat))
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

    static ByteBuffer answer(Kind kind, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, MAX_TEXT_LENGTH);
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
            if (read.getInt(8) != VERSION || kind == null || length < 0 || length > MAX_TEXT_LENGTH) {
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
