package dev.larder.server;

import com.sun.jna.Function;
import com.sun.jna.NativeLong;

/** A daemon whose process the kernel gives no huge pages, as a machine with {@code shmem_enabled=deny} does. */
final class NoHugePagesDaemonProgram {
    private static final int PR_SET_THP_DISABLE = 41;

    private NoHugePagesDaemonProgram() {}

    /** Takes what {@link DaemonProgram} takes. */
    public static void main(String[] arguments) {
        NativeLong zero = new NativeLong(0);
        Function prctl = Function.getFunction("c", "prctl");
        if (prctl.invokeInt(new Object[] {PR_SET_THP_DISABLE, new NativeLong(1), zero, zero, zero}) != 0) {
            throw new IllegalStateException("prctl(PR_SET_THP_DISABLE) failed");
        }
        DaemonProgram.main(arguments);
    }
}
