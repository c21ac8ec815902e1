package dev.larder.loader.fanout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reads and writes words of a ring that several processes use, with the memory order in the name of the method. */
final class RingWords {
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private RingWords() {}

    static long longAcquire(ByteBuffer buffer, int offset) {
        return (long) LONGS.getAcquire(buffer, offset);
    }

    static void longRelease(ByteBuffer buffer, int offset, long value) {
        LONGS.setRelease(buffer, offset, value);
    }

    static int intAcquire(ByteBuffer buffer, int offset) {
        return (int) INTS.getAcquire(buffer, offset);
    }

    static void intRelease(ByteBuffer buffer, int offset, int value) {
        INTS.setRelease(buffer, offset, value);
    }
}
