package dev.larder.internal.layout;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Specifies regions: memory that several processes read and write at the same time, apart from datasets, which nobody writes.
 *
 * <pre>
 * &lt;store&gt;/regions/locks                  never written; its bytes are locked, far beyond its end
 * &lt;store&gt;/regions/&lt;name&gt;@&lt;id&gt;            a region that is a file; id in 16 hex digits
 * </pre>
 *
 * A region without a file is sealed memory, which the daemon hands out at {@link StoreLayout#regionSocket}: the client sends the id
 * (int64), and gets it back with a descriptor, or 0 where there is no such region.
 *
 * <p>The id of a region is a random multiple of {@link #LOCKS}, and so many bytes of {@code locks} from there on are its own:
 *
 * <pre>
 *   id + 0       attached: locked, shared, by every process that has the region; the daemon removes a region that nobody has, but for
 *                computed rows ({@link RowsDescriptor}), which it removes where their room is needed
 *   id + 1       making: locked by the one process that lays out the region, until its state is READY
 *   id + 2 + n   seat n: locked by whoever plays that part in the region; free as soon as that process has ended
 * </pre>
 *
 * They are locks of open file descriptions: a process needs one descriptor of {@code locks} for all its regions.
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
 * 64 | pid of who asked for it           | when, in ms since the epoch       |
 *    +-----------------------------------+-----------------------------------+
 *4096| data                                                                  |
 *
 *  state   0 as the daemon made it, all zeros; 1 being laid out; 2 ready
 * </pre>
 *
 * Everything but the state is written by the daemon, before anybody else sees the region.
 */
public final class RegionDescriptor {
    /** "LARDERRE" read as a little-endian integer. */
    public static final long MAGIC = 0x4552_5245_4452_414cL;

    public static final String LOCKS_FILE = "locks";

    /** How many bytes of the lock file belong to each region. */
    public static final int LOCKS = 4096;

    public static final int ATTACHED_LOCK = 0;
    public static final int MAKING_LOCK = 1;
    public static final int FIRST_SEAT_LOCK = 2;

    /** How many parts there are to play in a region. */
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

    /** Finds the name of a region in that of its file; null where it is none. */
    public static @Nullable String nameOf(String fileName) {
        Matcher matcher = FILE.matcher(fileName);
        return matcher.matches() ? matcher.group("name") : null;
    }

    /** Finds the id of a region in the name of its file; 0 where it is none. */
    public static long idOf(String fileName) {
        Matcher matcher = FILE.matcher(fileName);
        return matcher.matches() ? Long.parseUnsignedLong(matcher.group("id"), 16) : 0;
    }

    /** Tells whether a region of a kind stays when no process has it: until its room is needed, or somebody removes it. */
    public static boolean isKept(String kind) {
        return kind.equals(RowsDescriptor.KIND);
    }

    /** Makes an id of a random number. */
    public static long idFrom(long random) {
        long id = random & (Long.MAX_VALUE >> 1) & -LOCKS; // two bits less: positions in files are signed
        return id == 0 ? LOCKS : id;
    }
}
