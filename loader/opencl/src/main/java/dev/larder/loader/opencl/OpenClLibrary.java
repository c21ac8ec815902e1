package dev.larder.loader.opencl;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Loads libOpenCL and JOCL once, and stores a failure. */
final class OpenClLibrary {
    /** The variable of PoCL's handler for arithmetic faults, which would replace Java's on every thread: 1 / 0 would return a number. */
    private static final String POCL_HANDLER = "POCL_SIGFPE_HANDLER";

    /** The field that makes JOCL unpack its library under a random name; else it would load a file from the temporary folder. */
    private static final String UNIQUE_NAMES = "uniqueLibraryNames";

    private static final Pattern UNPACKED = Pattern.compile("libJOCL_.*-[0-9a-f]{8}-[0-9a-f-]{27}\\.so");
    private static final Pattern BEFORE_PATH = Pattern.compile("^[^/]*");

    private OpenClLibrary() {}

    private static final class Holder {
        private static final @Nullable Throwable REFUSAL;

        static {
            REFUSAL = load();
        }
    }

    /** Loads the libraries. Fails with {@code NOT_FOUND} and the remedy if one is missing, with the same failure every time. */
    static void require() {
        Throwable refusal = Holder.REFUSAL;
        if (refusal != null) {
            throw Failure.of(ErrorCode.NOT_FOUND, "cannot load OpenCL")
                    .with("library", LibOpenCl.FILE_NAME)
                    .with("reason", firstLine(refusal))
                    .cause(refusal)
                    .remedy(
                            "install ocl-icd-libopencl1 and the GPU's driver (pocl-opencl-icd computes on the processor);"
                                    + " JOCL also needs a folder that is not mounted noexec: -Djava.io.tmpdir=DIR");
        }
    }

    private static @Nullable Throwable load() {
        try {
            if (System.getenv(POCL_HANDLER) == null) {
                Posix.system().changeEnvironment(POCL_HANDLER, "0");
            }
            Class.forName(LibOpenCl.class.getName(), true, OpenClLibrary.class.getClassLoader());
            loadJocl();
            return null;
        } catch (ReflectiveOperationException | LinkageError | RuntimeException e) {
            return e;
        }
    }

    private static void loadJocl() throws ClassNotFoundException {
        String before = System.getProperty(UNIQUE_NAMES);
        System.setProperty(UNIQUE_NAMES, "true");
        try {
            Class.forName("org.jocl.CL", true, OpenClLibrary.class.getClassLoader());
        } finally {
            if (before == null) {
                System.clearProperty(UNIQUE_NAMES);
            } else {
                System.setProperty(UNIQUE_NAMES, before);
            }
            removeUnpacked();
        }
    }

    /** Removes the file after loading, so that a killed process leaves no file. */
    private static void removeUnpacked() {
        Path folder = Path.of(System.getProperty("java.io.tmpdir"));
        try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
            mappings.map(line -> BEFORE_PATH.matcher(line).replaceFirst(""))
                    .filter(path -> UNPACKED.matcher(path).find())
                    .map(Path::of)
                    .distinct()
                    .filter(path -> folder.toAbsolutePath().normalize().equals(path.getParent()))
                    .forEach(OpenClLibrary::remove);
        } catch (IOException | RuntimeException e) {
            // JOCL removes it when the process ends
        }
    }

    private static void remove(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            // JOCL removes it when the process ends
        }
    }

    private static String firstLine(Throwable refusal) {
        String message = refusal.getMessage();
        return message == null
                ? refusal.toString()
                : message.lines().findFirst().orElse("");
    }
}
