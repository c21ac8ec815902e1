package dev.larder.loader.opencl;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.device.DeviceHealth;
import org.jocl.CL;

/** The health of an OpenCL device. */
final class Health extends DeviceHealth {
    /** NVIDIA's code for an access that the device refused. */
    private static final int ILLEGAL_ACCESS = -9999;

    private volatile int lastCode = CL.CL_SUCCESS;

    Health() {
        super("close the loader and restart the process; see the driver's log");
    }

    @Override
    protected void seen(int code) {
        lastCode = code;
    }

    @Override
    protected Failure describe(String call, int code) {
        return failure(call, code);
    }

    @Override
    protected String nameOf(int code) {
        return name(code);
    }

    @Override
    protected boolean isFinal(int code) {
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

    /** Returns whether the last failure was a lack of memory. */
    boolean isOutOfMemory() {
        return switch (lastCode) {
            case CL.CL_MEM_OBJECT_ALLOCATION_FAILURE,
                    CL.CL_OUT_OF_RESOURCES,
                    CL.CL_OUT_OF_HOST_MEMORY,
                    CL.CL_INVALID_BUFFER_SIZE -> true;
            default -> false;
        };
    }

    static Failure failure(String call, int code) {
        return Failure.of(ErrorCode.UNEXPECTED, "OpenCL call failed")
                .with("call", call)
                .with("code", name(code));
    }

    /** Returns the name of a code in OpenCL's headers. */
    static String name(int code) {
        String name = CL.stringFor_errorCode(code);
        return name.startsWith("CL_") ? name : "unnamed(" + code + ")";
    }
}
