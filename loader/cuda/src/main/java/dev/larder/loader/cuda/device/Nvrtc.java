package dev.larder.loader.cuda.device;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.StringArray;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.Posix;
import dev.larder.loader.internal.cuda.LibCuda;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * NVIDIA's compiler of kernels at run time. The toolkit and the wheels of frameworks contain it; the driver does not. Loaded once, and
 * never unloaded.
 */
final class Nvrtc {
    /** A function of the versions that compile for a device directly, which drivers of the same major version load. */
    private static final String ARCHITECTURES = "nvrtcGetSupportedArchs";

    private static @Nullable Nvrtc found;

    private final NativeLibrary library;
    private final String place;
    private final int major;
    private final int minor;

    /** Stays loaded as long as this. */
    @SuppressWarnings("UnusedVariable")
    private final @Nullable NativeLibrary builtins;

    private Nvrtc(NativeLibrary library, String place) {
        this.library = library;
        this.place = place;
        int[] version = new int[1];
        int[] second = new int[1];
        require("nvrtcVersion", call("nvrtcVersion", version, second));
        this.major = version[0];
        this.minor = second[0];
        this.builtins = builtins();
    }

    /** Loads the library that the compiler loads by its bare name, so that the compiler finds it in any folder. */
    private @Nullable NativeLibrary builtins() {
        Path beside = Path.of(place).resolveSibling("libnvrtc-builtins.so." + major + "." + minor);
        return Files.exists(beside) ? NativeLibrary.getInstance(beside.toString()) : null;
    }

    /** Returns the compiler of this machine; fails with {@code NOT_FOUND} and the remedy if there is none. */
    static synchronized Nvrtc system() {
        Nvrtc known = found;
        if (known == null) {
            int[] driver = new int[1];
            LibCuda.cuDriverGetVersion(driver);
            known = find(NvrtcPlaces.of(System.getenv(), driver[0] / 1000));
            found = known;
        }
        return known;
    }

    /** Loads the first library that can be loaded. */
    static Nvrtc find(List<String> places) {
        Posix.system(); // sets JNA's folder for its own library
        List<String> tried = new ArrayList<>();
        for (String place : places) {
            try {
                return new Nvrtc(NativeLibrary.getInstance(place), place);
            } catch (LinkageError | LarderException e) {
                tried.add(place + ": "
                        + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
            }
        }
        throw Failure.of(ErrorCode.NOT_FOUND, "no NVRTC to compile kernels for CUDA")
                .with("tried", tried.isEmpty() ? "nothing" : tried)
                .remedy(
                        "pip install nvidia-cuda-nvrtc (or nvidia-cuda-nvrtc-cu12), or apt-get install libnvrtc12, and let"
                                + " $LARDER_NVRTC name libnvrtc.so.* or its folder if it is not found; OpenCL needs none:"
                                + " Device.opencl(); orHost() leaves batches on the host");
    }

    /** Compiles a kernel for devices of a capability, 90 for 9.0; fails with {@code UNEXPECTED} and the compiler's log. */
    byte[] compile(String source, int computeCapability) {
        Target target = target(computeCapability);
        long[] program = new long[1];
        String text = CudaPrelude.TEXT + source;
        require(
                "nvrtcCreateProgram",
                call("nvrtcCreateProgram", program, bytes(text), bytes("larder.cu"), 0, Pointer.NULL, Pointer.NULL));
        try {
            String[] options = {
                "--gpu-architecture=" + target.architecture(),
                "--std=c++17",
                "--fmad=false", // so that a product and a sum round twice, as on the host
                "--device-as-default-execution-space",
                "--disable-warnings"
            };
            try (StringArray words = new StringArray(options)) {
                int result = call("nvrtcCompileProgram", program[0], options.length, words);
                if (result != 0) {
                    throw failure("nvrtcCompileProgram", result)
                            .with("architecture", target.architecture())
                            .with("log", "\n" + log(program[0]))
                            .exception();
                }
            }
            return output(program[0], target.what());
        } finally {
            call("nvrtcDestroyProgram", program);
        }
    }

    /**
     * The result to compile.
     *
     * @param what the code of the device, or an intermediate form that its driver compiles
     */
    private record Target(String architecture, String what) {}

    private Target target(int computeCapability) {
        int newest = 0;
        for (int architecture : architectures()) {
            if (architecture == computeCapability) {
                return new Target("sm_" + architecture, "CUBIN");
            }
            newest = architecture < computeCapability ? Math.max(newest, architecture) : newest;
        }
        return new Target("compute_" + (newest == 0 ? computeCapability : newest), "PTX");
    }

    private int[] architectures() {
        int[] count = new int[1];
        try {
            require("nvrtcGetNumSupportedArchs", call("nvrtcGetNumSupportedArchs", count));
            int[] architectures = new int[count[0]];
            require(ARCHITECTURES, call(ARCHITECTURES, architectures));
            return architectures;
        } catch (UnsatisfiedLinkError e) { // before 11.2
            return new int[0];
        }
    }

    private byte[] output(long program, String what) {
        long[] size = new long[1];
        require("nvrtcGet" + what + "Size", call("nvrtcGet" + what + "Size", program, size));
        byte[] output = new byte[Math.toIntExact(size[0])];
        require("nvrtcGet" + what, call("nvrtcGet" + what, program, output));
        return output;
    }

    private String log(long program) {
        long[] size = new long[1];
        if (call("nvrtcGetProgramLogSize", program, size) != 0) {
            return "none";
        }
        byte[] log = new byte[Math.toIntExact(Math.max(1, size[0]))];
        return call("nvrtcGetProgramLog", program, log) == 0 ? Native.toString(log, "UTF-8") : "none";
    }

    private void require(String call, int result) {
        if (result != 0) {
            throw failure(call, result).exception();
        }
    }

    private Failure failure(String call, int result) {
        return Failure.of(ErrorCode.UNEXPECTED, "cannot compile a kernel")
                .with("call", call)
                .with("code", nameOf(result))
                .with("compiler", this);
    }

    private String nameOf(int result) {
        Object name = library.getFunction("nvrtcGetErrorString", Function.C_CONVENTION)
                .invoke(String.class, new Object[] {result});
        return name + "(" + result + ")";
    }

    /** Calls a function with integers, arrays of them, and addresses. It is slow, but each kernel needs only a few calls. */
    private int call(String function, Object... arguments) {
        return library.getFunction(function, Function.C_CONVENTION).invokeInt(arguments);
    }

    private static byte[] bytes(String text) {
        return (text + '\0').getBytes(UTF_8);
    }

    @Override
    public String toString() {
        return "NVRTC " + major + "." + minor + " " + place;
    }
}
