package dev.larder.loader.internal.cuda;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;

/** Converts result codes of the driver to failures. */
public final class CudaCalls {
    static final int OUT_OF_MEMORY = 2;

    /** The process is ending, and the driver has released all resources. */
    public static final int DEINITIALIZED = 4;

    static final int STUB_LIBRARY = 34;
    static final int NO_DEVICE = 100;
    static final int NOT_PERMITTED = 800;
    static final int NOT_SUPPORTED = 801;

    /** The first result after which the process cannot use CUDA any more: each later call returns the same result. */
    private static final int FIRST_STICKY = 700;

    private static final int LAST_STICKY = 720;
    private static final int ALREADY_LOCKED = 712;
    private static final int NOT_LOCKED = 713;

    private CudaCalls() {}

    /** Fails unless the result is success. */
    static void require(CudaDriver driver, String call, int result) {
        if (result != 0) {
            throw failure(driver, call, result);
        }
    }

    static LarderException failure(CudaDriver driver, String call, int result) {
        return begin(driver, call, result).remedy(remedy(result));
    }

    static LarderException failure(CudaDriver driver, String call, int result, long byteSize) {
        return begin(driver, call, result).with("bytes", byteSize).remedy(remedy(result));
    }

    private static Failure begin(CudaDriver driver, String call, int result) {
        return Failure.of(code(result), "CUDA driver refused")
                .with("call", call)
                .with("error", result + " " + driver.nameOf(result));
    }

    /** Returns the error code for a result. */
    public static ErrorCode code(int result) {
        return switch (result) {
            case OUT_OF_MEMORY -> ErrorCode.NO_SPACE;
            case STUB_LIBRARY, NO_DEVICE -> ErrorCode.NOT_FOUND;
            case NOT_PERMITTED, NOT_SUPPORTED -> ErrorCode.REFUSED;
            default -> ErrorCode.UNEXPECTED;
        };
    }

    private static String remedy(int result) {
        if (isSticky(result)) {
            return "an earlier kernel or copy of this process failed, and CUDA is unusable: fix that, and restart the process";
        }
        return switch (result) {
            case OUT_OF_MEMORY -> "choose a smaller batchSize(…) or prefetch(…), or remove pinMemory()";
            case STUB_LIBRARY -> "remove the toolkit's stubs from the library path: the driver has the real library";
            case NO_DEVICE -> "check nvidia-smi and $CUDA_VISIBLE_DEVICES, or remove pinMemory()";
            case NOT_PERMITTED, NOT_SUPPORTED -> "remove pinMemory(): this system does not allow locked pages";
            default -> "check nvidia-smi and the kernel's log, or remove pinMemory()";
        };
    }

    /** Returns whether the process cannot use CUDA any more, because each later call returns the same result. */
    public static boolean isSticky(int result) {
        return result >= FIRST_STICKY && result < LAST_STICKY && result != ALREADY_LOCKED && result != NOT_LOCKED;
    }
}
