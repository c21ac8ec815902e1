package dev.larder.readers.hdf5;

import io.jhdf.exceptions.HdfException;
import io.jhdf.storage.HdfBackingStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads the messages of an object's header. The library has parsed them, but it confuses a reference to a shared message with the message
 * itself, and drops a flag of chunks.
 */
final class RawMessages {
    static final int TYPE = 3;
    static final int OLD_FILL_VALUE = 4;
    static final int FILL_VALUE = 5;
    static final int LINK = 6;
    static final int LAYOUT = 8;
    private static final int CONTINUATION = 16;

    private static final int HEADER_1_BYTES = 16;
    private static final int MESSAGE_1_BYTES = 8;
    private static final int SIGNATURE_BYTES = 4;
    private static final int CHECKSUM_BYTES = 4;
    private static final int SHARED = 1 << 1;
    private static final int HAS_ORDER = 1 << 2;
    private static final int HAS_ATTRIBUTE_LIMITS = 1 << 4;
    private static final int HAS_TIMES = 1 << 5;

    private final HdfBackingStorage file;
    private final List<Raw> messages = new ArrayList<>();
    private final Set<Long> blocks = new HashSet<>();
    private boolean isVersion1;
    private boolean hasOrder;

    /** A message: its type, whether its data is a reference to another place, and its data. */
    record Raw(int type, boolean isShared, ByteBuffer data) {}

    private RawMessages(HdfBackingStorage file) {
        this.file = file;
    }

    static List<Raw> of(HdfBackingStorage file, long address) {
        RawMessages header = new RawMessages(file);
        header.read(address);
        return header.messages;
    }

    private ByteBuffer at(long address, long length) {
        return file.readBufferFromAddress(address, Math.toIntExact(length)).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void read(long address) {
        ByteBuffer head = at(address, HEADER_1_BYTES);
        isVersion1 = head.get(0) == 1;
        if (isVersion1) {
            block(address + HEADER_1_BYTES, head.getInt(8) & 0xffffffffL);
            return;
        }
        int flags = head.get(SIGNATURE_BYTES + 1);
        hasOrder = (flags & HAS_ORDER) != 0;
        long place = address
                + SIGNATURE_BYTES
                + 2
                + ((flags & HAS_TIMES) == 0 ? 0 : 4 * Integer.BYTES)
                + ((flags & HAS_ATTRIBUTE_LIMITS) == 0 ? 0 : 2 * Short.BYTES);
        int lengthBytes = 1 << (flags & 3);
        block(place + lengthBytes, number(at(place, lengthBytes), lengthBytes));
    }

    /** Returns the next number, which has this many bytes. */
    static long number(ByteBuffer in, int bytes) {
        long number = 0;
        for (int i = 0; i < bytes; i++) {
            number |= (in.get() & 0xffL) << (i * Byte.SIZE);
        }
        return number;
    }

    private void block(long address, long length) {
        if (!blocks.add(address)) {
            throw new HdfException("the parts of a header contain each other");
        }
        ByteBuffer in = at(address, length);
        int headBytes = isVersion1 ? MESSAGE_1_BYTES : hasOrder ? 6 : 4;
        while (in.remaining() >= headBytes) {
            int start = in.position();
            int type = isVersion1 ? in.getShort() & 0xffff : in.get() & 0xff;
            int bytes = in.getShort() & 0xffff;
            boolean isShared = (in.get() & SHARED) != 0;
            ByteBuffer data = in.slice(start + headBytes, bytes).order(ByteOrder.LITTLE_ENDIAN);
            in.position(start + headBytes + bytes);
            if (type == CONTINUATION) {
                long next = number(data, file.getSizeOfOffsets());
                long nextBytes = number(data, file.getSizeOfLengths());
                if (isVersion1) {
                    block(next, nextBytes);
                } else {
                    block(next + SIGNATURE_BYTES, nextBytes - SIGNATURE_BYTES - CHECKSUM_BYTES);
                }
            } else {
                messages.add(new Raw(type, isShared, data));
            }
        }
    }
}
