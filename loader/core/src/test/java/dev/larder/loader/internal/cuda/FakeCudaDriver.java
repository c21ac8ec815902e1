package dev.larder.loader.internal.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A driver that keeps its own books, and fails when it is told to. */
final class FakeCudaDriver implements CudaDriver {
    static final int INVALID_CONTEXT = 201;
    private static final int ALREADY_LOCKED = 712;
    private static final int NOT_LOCKED = 713;
    private static final long CONTEXT = 0x7f00_0000_1000L;

    /** The calls that change something, as they came. */
    final List<String> calls = new ArrayList<>();

    /** The ranges that are locked, by address. */
    final Map<Long, Long> locked = new TreeMap<>();

    int devices = 1;
    int current = -1;
    int retained;
    private int entered;
    private String failingCall = "";
    private int callsBeforeFailure;
    private int failure;

    /** Lets the so-manieth call of a function fail, from 1, and all after it. */
    FakeCudaDriver failing(String call, int time, int result) {
        failingCall = call;
        callsBeforeFailure = time - 1;
        failure = result;
        return this;
    }

    private int next(String call, String arguments) {
        calls.add(call + arguments);
        return call.equals(failingCall) && callsBeforeFailure-- <= 0 ? failure : 0;
    }

    /** Tells whether everything that was taken was given back. */
    boolean isLeft() {
        return locked.isEmpty() && retained == 0 && entered == 0;
    }

    @Override
    public int initialize() {
        return next("init", "");
    }

    @Override
    public int countDevices(int[] count) {
        count[0] = devices;
        return 0;
    }

    @Override
    public int device(int[] device, int ordinal) {
        device[0] = ordinal;
        return ordinal < devices ? 0 : 101;
    }

    @Override
    public int currentDevice(int[] device) {
        device[0] = current;
        return current < 0 ? INVALID_CONTEXT : 0;
    }

    @Override
    public int retainContext(long[] context, int device) {
        int result = next("retain", " " + device);
        context[0] = CONTEXT;
        retained += result == 0 ? 1 : 0;
        return result;
    }

    @Override
    public int releaseContext(int device) {
        retained--;
        return next("release", " " + device);
    }

    @Override
    public int pushContext(long context) {
        entered++;
        return context == CONTEXT && retained > 0 ? 0 : INVALID_CONTEXT;
    }

    @Override
    public int popContext(long[] context) {
        entered--;
        return 0;
    }

    @Override
    public int lockPages(long address, long byteSize, int flags) {
        int result = next("lock", " " + byteSize + " flags=" + flags);
        if (result != 0 || entered == 0) {
            return result != 0 ? result : INVALID_CONTEXT;
        }
        return locked.putIfAbsent(address, byteSize) == null ? 0 : ALREADY_LOCKED;
    }

    @Override
    public int unlockPages(long address) {
        Long byteSize = locked.remove(address);
        int result = next("unlock", " " + byteSize);
        return byteSize == null ? NOT_LOCKED : result;
    }

    @Override
    public String nameOf(int result) {
        return "CUDA_ERROR_" + result;
    }
}
