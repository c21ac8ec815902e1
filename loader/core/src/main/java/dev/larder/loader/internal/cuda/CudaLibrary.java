package dev.larder.loader.internal.cuda;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import org.jspecify.annotations.Nullable;

/** The library of the CUDA driver; no toolkit is needed. Loaded once and never unloaded. */
public final class CudaLibrary {
    /** The system property with the path of another library, for tests. */
    public static final String PROPERTY = "larder.cuda.library";

    /** The file name of the library in every driver. */
    private static final String FILE_NAME = "libcuda.so.1";

    private CudaLibrary() {}

    static String name() {
        return System.getProperty(PROPERTY, FILE_NAME);
    }

    /** Loads the library, and keeps the failure. */
    private static final class Loading {
        private static final @Nullable Throwable REFUSAL;

        static {
            REFUSAL = refusal();
        }

        private static @Nullable Throwable refusal() {
            try {
                Class.forName(LibCuda.class.getName(), true, LibCuda.class.getClassLoader());
                return null;
            } catch (ReflectiveOperationException | LinkageError | LarderException e) {
                return e;
            }
        }
    }

    /** Fails with {@code NOT_FOUND}, on every call, if the library is missing or lacks a function. */
    public static void require(String whatFailed, String remedy) {
        Throwable refusal = Loading.REFUSAL;
        if (refusal != null) {
            throw missing(name(), refusal, whatFailed, remedy);
        }
    }

    static LarderException missing(String library, Throwable refusal, String whatFailed, String remedy) {
        return Failure.of(ErrorCode.NOT_FOUND, whatFailed)
                .with("library", library)
                .with(
                        "reason",
                        String.valueOf(refusal.getMessage()).lines().findFirst().orElse(""))
                .cause(refusal)
                .remedy(remedy);
    }
}
