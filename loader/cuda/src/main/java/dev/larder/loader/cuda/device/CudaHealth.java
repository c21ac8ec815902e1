package dev.larder.loader.cuda.device;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.cuda.CudaCalls;
import dev.larder.loader.internal.cuda.LibCuda;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Whether a device can still be used. After some failures the driver refuses all that follows: the first of these is kept, and
 * everything after fails at once and names it.
 */
final class CudaHealth {
    private final AtomicReference<@Nullable String> death = new AtomicReference<>();

    /** Fails if the device is lost. */
    void require() {
        String first = death.get();
        if (first != null) {
            throw Failure.of(ErrorCode.UNEXPECTED, "device is unusable in this process")
                    .with("since", first)
                    .remedy("close the loader and restart the process; see the kernel's log for Xid messages");
        }
    }

    /** Begins the failure of a call, and keeps it if nothing can be done after it. */
    Failure failed(String call, int result) {
        keep(call, result);
        return failure(call, result);
    }

    /** Returns the failure of work that was given to the device before. */
    LarderException workFailed(Object fence, int result) {
        keep("work", result);
        return Failure.of(ErrorCode.UNEXPECTED, "work of the device failed")
                .with("code", name(result))
                .with("fence", fence)
                .exception();
    }

    private void keep(String what, int result) {
        if (CudaCalls.isSticky(result)) {
            death.compareAndSet(null, what + " " + name(result));
        }
    }

    static Failure failure(String call, int result) {
        return Failure.of(CudaCalls.code(result), "CUDA call failed")
                .with("call", call)
                .with("code", name(result));
    }

    static String name(int result) {
        return LibCuda.nameOf(result) + "(" + result + ")";
    }
}
