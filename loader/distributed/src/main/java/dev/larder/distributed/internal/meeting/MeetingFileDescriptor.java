package dev.larder.distributed.internal.meeting;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The content of the file of a meeting; numbers are little-endian. A process holds the file's {@code flock} while it reads or writes. A
 * slot is valid if its checksum and its tag, the start of the key, are right.
 *
 * <pre>
 *   header  0       8         12           16    32     40        48           64      68
 *           | magic | version | world size | key | boot | machine | job digest | state | ... crc32c at 124 |
 *
 *   slots   from 128, 64 bytes for each rank
 *           0       4        8     16            24          32      40    48
 *           | state | unused | pid | start ticks | pid space | nonce | tag | ... crc32c at 60 |
 * </pre>
 */
final class MeetingFileDescriptor {
    static final int HEADER_LENGTH = 128;
    static final int SLOT_LENGTH = 64;

    static final int GATHERING = 0;
    static final int COMPLETE = 1;

    static final int EMPTY = 0;
    static final int HERE = 1;
    static final int LEFT = 2;
    static final int GAVE_UP = 3;

    private static final int VERSION = 1;
    private static final long MAGIC = ByteBuffer.wrap("larderMT".getBytes(StandardCharsets.US_ASCII))
            .order(ByteOrder.LITTLE_ENDIAN)
            .getLong();
    private static final int VERSION_OFFSET = 8;
    private static final int WORLD_SIZE_OFFSET = 12;
    private static final int KEY_OFFSET = 16;
    private static final int BOOT_OFFSET = 32;
    private static final int MACHINE_OFFSET = 40;
    private static final int JOB_OFFSET = 48;
    private static final int STATE_OFFSET = 64;
    private static final int PID_OFFSET = 8;
    private static final int START_OFFSET = 16;
    private static final int PID_SPACE_OFFSET = 24;
    private static final int NONCE_OFFSET = 32;
    private static final int TAG_OFFSET = 40;

    private final ByteBuffer bytes;

    private MeetingFileDescriptor(ByteBuffer bytes) {
        this.bytes = bytes;
    }

    static int byteSize(int worldSize) {
        return HEADER_LENGTH + SLOT_LENGTH * worldSize;
    }

    /** Wraps the content of a file, which may be of any length. */
    static MeetingFileDescriptor wrap(ByteBuffer bytes) {
        return new MeetingFileDescriptor(bytes.order(ByteOrder.LITTLE_ENDIAN));
    }

    /** Begins a meeting in an empty buffer. */
    static MeetingFileDescriptor begin(ByteBuffer bytes, RankSeat seat, MachineIdentity machine) {
        MeetingFileDescriptor file = wrap(bytes);
        file.bytes
                .putLong(0, MAGIC)
                .putInt(VERSION_OFFSET, VERSION)
                .putInt(WORLD_SIZE_OFFSET, seat.worldSize())
                .put(KEY_OFFSET, Keys.random())
                .putLong(BOOT_OFFSET, machine.bootDigest())
                .putLong(MACHINE_OFFSET, machine.machineDigest())
                .put(JOB_OFFSET, digest(seat));
        file.state(GATHERING);
        return file;
    }

    private static byte[] digest(RankSeat seat) {
        return Keys.digest(List.of(seat.job()));
    }

    ByteBuffer bytes() {
        return bytes;
    }

    boolean isEmpty() {
        return bytes.limit() == 0;
    }

    /** Returns whether the file begins as that of a meeting. */
    boolean isMeeting() {
        return bytes.limit() >= Long.BYTES && bytes.getLong(0) == MAGIC;
    }

    /** Returns whether the header is complete. */
    boolean isWhole() {
        return bytes.limit() >= HEADER_LENGTH
                && hasChecksum(0, HEADER_LENGTH)
                && (!isKnownVersion() || (worldSize() > 0 && bytes.limit() >= byteSize(worldSize())));
    }

    boolean isKnownVersion() {
        return bytes.getInt(VERSION_OFFSET) == VERSION;
    }

    int version() {
        return bytes.getInt(VERSION_OFFSET);
    }

    int worldSize() {
        return Math.min(bytes.getInt(WORLD_SIZE_OFFSET), RankSeat.MAX_WORLD_SIZE);
    }

    boolean isOfMachine(MachineIdentity machine) {
        return bytes.getLong(MACHINE_OFFSET) == machine.machineDigest();
    }

    boolean isOfBoot(MachineIdentity machine) {
        return bytes.getLong(BOOT_OFFSET) == machine.bootDigest();
    }

    boolean isOfJob(RankSeat seat) {
        byte[] job = new byte[Keys.BYTES];
        bytes.get(JOB_OFFSET, job);
        return Arrays.equals(job, digest(seat));
    }

    String key() {
        byte[] key = new byte[Keys.BYTES];
        bytes.get(KEY_OFFSET, key);
        return Keys.text(key);
    }

    boolean isComplete() {
        return bytes.getInt(STATE_OFFSET) == COMPLETE;
    }

    void state(int state) {
        bytes.putInt(STATE_OFFSET, state);
        putChecksum(0, HEADER_LENGTH);
    }

    int slotState(int rank) {
        int slot = slot(rank);
        boolean counts = hasChecksum(slot, SLOT_LENGTH) && bytes.getLong(slot + TAG_OFFSET) == tag();
        return counts ? bytes.getInt(slot) : EMPTY;
    }

    ProcessIdentity occupant(int rank) {
        int slot = slot(rank);
        return new ProcessIdentity(
                bytes.getLong(slot + PID_OFFSET),
                bytes.getLong(slot + START_OFFSET),
                bytes.getLong(slot + PID_SPACE_OFFSET));
    }

    long nonce(int rank) {
        return bytes.getLong(slot(rank) + NONCE_OFFSET);
    }

    void take(int rank, ProcessIdentity occupant, long nonce) {
        int slot = slot(rank);
        bytes.putLong(slot + PID_OFFSET, occupant.pid())
                .putLong(slot + START_OFFSET, occupant.startTicks())
                .putLong(slot + PID_SPACE_OFFSET, occupant.pidSpace())
                .putLong(slot + NONCE_OFFSET, nonce)
                .putLong(slot + TAG_OFFSET, tag());
        slotState(rank, HERE);
    }

    void slotState(int rank, int state) {
        int slot = slot(rank);
        bytes.putInt(slot, state);
        putChecksum(slot, SLOT_LENGTH);
    }

    private static int slot(int rank) {
        return HEADER_LENGTH + SLOT_LENGTH * rank;
    }

    private long tag() {
        return bytes.getLong(KEY_OFFSET);
    }

    private boolean hasChecksum(int offset, int length) {
        return bytes.getInt(offset + length - Integer.BYTES) == checksum(offset, length);
    }

    private void putChecksum(int offset, int length) {
        bytes.putInt(offset + length - Integer.BYTES, checksum(offset, length));
    }

    private int checksum(int offset, int length) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.slice(offset, length - Integer.BYTES));
        return (int) checksum.getValue();
    }
}
