package dev.larder.internal.layout;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Specifies regions: memory that several processes read and write at the same time. Datasets, in contrast, are read-only.
 *
 * <pre>
 * &lt;store&gt;/regions/locks                  never written; its bytes are locked, far beyond its end
 * &lt;store&gt;/regions/&lt;name&gt;@&lt;id&gt;            a region; id in 16 hex digits
 * </pre>
 *
 * The id of a region is a random multiple of {@link #LOCKS}. The {@link #LOCKS} bytes of {@code locks} from there on are its locks:
 *
 * <pre>
 *   id + 0       attached: every process that has the region open holds a shared lock; the daemon removes a region without such a
 *                lock, except for computed rows ({@link RowsDescriptor}), which it removes when it needs the space
 *   id + 1       init: the process that initializes the region holds it until the state is READY
 *   id + 2 + n   seat n: the process in that seat holds it; it is free as soon as that process has ended
 * </pre>
 *
 * These are locks of open file descriptions, so a process needs only one descriptor of {@code locks} for all its regions.
 *
 * <p>The region itself, little-endian:
 *
 * <pre>
 *     0                 4                 8                 12                16
 *    +-----------------------------------+-----------------+-----------------+
 *  0 | magic "LARDERRE"                  | format version  | state           |
 *    +-----------------------------------+-----------------+-----------------+
 * 16 | id                                | byte size of the data             |
 *    +-----------------------------------+-----------------------------------+
 * 32 | kind, ASCII, 32 bytes, ends with zeros                                |
 *    +-----------------------------------+-----------------------------------+
 * 64 | pid of the creator                | created, in ms since the epoch    |
 *    +-----------------------------------+-----------------------------------+
 *4096| data                                                                  |
 *
 *  state   0 new, all zeros; 1 being initialized; 2 ready
 * </pre>
 *
 * The daemon writes everything except the state, before any other process can open the region.
 */
public final class RegionDescriptor {
    /** "LARDERRE" read as a little-endian integer. */
    public static final long MAGIC = 0x4552_5245_4452_414cL;

    public static final String LOCKS_FILE = "locks";

    /** Number of bytes in the lock file for each region. */
    public static final int LOCKS = 4096;

    public static final int ATTACHED_LOCK = 0;
    public static final int INIT_LOCK = 1;
    public static final int FIRST_SEAT_LOCK = 2;

    /** Number of seats in a region. */
    public static final int SEAT_LIMIT = LOCKS - FIRST_SEAT_LOCK;

    public static final int STATE_NEW = 0;
    public static final int STATE_MAKING = 1;
    public static final int STATE_READY = 2;

    public static final int MAGIC_OFFSET = 0;
    public static final int FORMAT_VERSION_OFFSET = MAGIC_OFFSET + Long.BYTES;
    public static final int STATE_OFFSET = FORMAT_VERSION_OFFSET + Integer.BYTES;
    public static final int ID_OFFSET = STATE_OFFSET + Integer.BYTES;
    public static final int BYTE_SIZE_OFFSET = ID_OFFSET + Long.BYTES;
    public static final int KIND_OFFSET = BYTE_SIZE_OFFSET + Long.BYTES;
    public static final int KIND_LENGTH = 32;
    public static final int CREATOR_PID_OFFSET = KIND_OFFSET + KIND_LENGTH;
    public static final int CREATED_OFFSET = CREATOR_PID_OFFSET + Long.BYTES;
    public static final int DATA_OFFSET = 4096;

    private static final Pattern FILE = Pattern.compile("(?<name>[^@]+)@(?<id>[0-9a-f]{16})");

    private RegionDescriptor() {}

    /** Returns the file name of a region. */
    public static String fileName(String name, long id) {
        return String.format("%s@%016x", name, id);
    }

    /** Returns the name of a region from its file name, or null if it is not one. */
    public static @Nullable String nameOf(String fileName) {
        Matcher matcher = FILE.matcher(fileName);
        return matcher.matches() ? matcher.group("name") : null;
    }

    /** Returns the id of a region from its file name, or 0 if it is not one. */
    public static long idOf(String fileName) {
        Matcher matcher = FILE.matcher(fileName);
        return matcher.matches() ? Long.parseUnsignedLong(matcher.group("id"), 16) : 0;
    }

    /** Returns whether regions of a kind stay while no process has them open. The daemon removes them when it needs the space. */
    public static boolean outlivesProcesses(String kind) {
        return kind.equals(RowsDescriptor.KIND);
    }

    /** Returns the id for a random number. */
    public static long idFrom(long random) {
        long id = random & (Long.MAX_VALUE >> 1) & -LOCKS; // two bits less: positions in files are signed
        return id == 0 ? LOCKS : id;
    }
}
