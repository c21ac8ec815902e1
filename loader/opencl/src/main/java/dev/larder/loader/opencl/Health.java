package dev.larder.loader.opencl;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.util.concurrent.atomic.AtomicReference;
import org.jocl.CL;
import org.jspecify.annotations.Nullable;

/**
 * Whether a device can still be used. After some failures drivers refuse, or get wrong, all that follows: the first of these is
 * kept, and everything after fails at once and names it.
 */
final class Health {
    /** What NVIDIA's driver says of an access that the device refused. */
    private static final int ILLEGAL_ACCESS = -9999;

    private final AtomicReference<@Nullable String> death = new AtomicReference<>();
    private volatile int lastCode = CL.CL_SUCCESS;

    /** Fails if the device is lost. */
    void require() {
        String first = death.get();
        if (first != null) {
            throw Failure.of(ErrorCode.UNEXPECTED, "device is unusable in this process")
                    .with("since", first)
                    .remedy("close the loader and restart the process; see the driver's log");
        }
    }

    boolean isLost() {
        return death.get() != null;
    }

    /** Begins the failure of a call, and keeps it if nothing can be done after it. */
    Failure failed(String call, int code) {
        lastCode = code;
        if (isFinal(code)) {
            death.compareAndSet(null, call + " " + name(code));
        }
        return failure(call, code);
    }

    /** Returns the failure of work that was given to the device before. */
    LarderException workFailed(Object fence, int status) {
        lastCode = status;
        if (isFinal(status)) {
            death.compareAndSet(null, "work " + name(status));
        }
        return Failure.of(ErrorCode.UNEXPECTED, "work of the device failed")
                .with("code", name(status))
                .with("fence", fence)
                .exception();
    }

    static Failure failure(String call, int code) {
        return Failure.of(ErrorCode.UNEXPECTED, "OpenCL call failed")
                .with("call", call)
                .with("code", name(code));
    }

    /** Returns a code as OpenCL's headers name it. */
    static String name(int code) {
        String name = CL.stringFor_errorCode(code);
        return name.startsWith("CL_") ? name : "unnamed(" + code + ")";
    }

    private static boolean isFinal(int code) {
        return switch (code) {
            case CL.CL_OUT_OF_RESOURCES,
                    CL.CL_DEVICE_NOT_AVAILABLE,
                    CL.CL_INVALID_COMMAND_QUEUE,
                    CL.CL_INVALID_CONTEXT,
                    CL.CL_INVALID_DEVICE,
                    ILLEGAL_ACCESS -> true;
            default -> false;
        };
    }

    /** Tells whether what failed last means that there is not as much memory left. */
    boolean isOutOfMemory() {
        return switch (lastCode) {
            case CL.CL_MEM_OBJECT_ALLOCATION_FAILURE,
                    CL.CL_OUT_OF_RESOURCES,
                    CL.CL_OUT_OF_HOST_MEMORY,
                    CL.CL_INVALID_BUFFER_SIZE -> true;
            default -> false;
        };
    }
}
