package dev.larder.launch.process;

import dev.larder.internal.error.Failure;
import dev.larder.internal.process.ProcessFamily;
import dev.larder.internal.process.SystemTools;
import dev.larder.launch.process.ExitCause.NotStarted;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Turns a {@link ProcessSpec} into words that the JDK can start: a chain of small tools of every Linux. Each tool does one thing that a JVM
 * cannot do for its children, and then replaces itself by the next. The last one is the program, with the same pid.
 */
final class Start {
    private static final String LAST_TOOL = "setpriv";
    private static final String VERSIONS =
            "needs coreutils 8.31 and util-linux 2.33, or later; busybox lacks some of it";
    private static final int GNU_MISUSE = 125;
    private static final int MISUSE = 1;

    private Start() {}

    /** Returns the builder of a process. */
    static ProcessBuilder of(ProcessSpec program, ProcessFamily family) throws IOException {
        // The default signals, a session of its own, and an end when the thread that started it ends.
        List<String> words = new ArrayList<>(List.of(
                SystemTools.find("env"), "--default-signal", SystemTools.find("setsid"), SystemTools.find(LAST_TOOL)));
        words.addAll(List.of("--pdeathsig", "KILL", "--"));
        words.addAll(program.words());
        ProcessBuilder builder = new ProcessBuilder(words);
        Map<String, String> environment = builder.environment();
        change(environment, program.environment());
        environment.put(ProcessFamily.VARIABLE, family.mark(environment.get(ProcessFamily.VARIABLE)));
        if (program.folder() != null) {
            builder.directory(program.folder().toFile());
        }
        builder.redirectErrorStream(!program.output().isApart());
        builder.redirectInput(
                program.isInputInherited()
                        ? ProcessBuilder.Redirect.INHERIT
                        : ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
        return builder;
    }

    /** Returns the reason why a program cannot start, if it is known before the start; else null. */
    static @Nullable NotStarted obstacle(ProcessSpec program) {
        Path folder = program.folder();
        if (folder != null && !Files.isDirectory(folder)) {
            return new NotStarted(NotStarted.CANNOT_RUN, "no such folder to run in: folder=" + folder);
        }
        String name = program.words().get(0);
        boolean isPath = name.indexOf('/') >= 0;
        Path here = folder == null ? Path.of("") : folder;
        List<Path> places = isPath ? List.of(here.resolve(name)) : places(name, path(program), here);
        if (places.stream().anyMatch(place -> Files.isRegularFile(place) && Files.isExecutable(place))) {
            return null;
        }
        if (places.stream().anyMatch(Files::exists)) {
            return new NotStarted(NotStarted.CANNOT_RUN, "not an executable file: command=" + name);
        }
        return new NotStarted(NotStarted.NO_SUCH_PROGRAM, "no such program: command=" + name);
    }

    /**
     * Parses the message of the last tool if it could not become the program, for example because its interpreter is missing, and of a tool
     * that is too old for its options. Null for another line.
     */
    static @Nullable NotStarted refused(int exitCode, String line) {
        boolean isTools = line.startsWith(LAST_TOOL + ": ")
                && (exitCode == NotStarted.CANNOT_RUN || exitCode == NotStarted.NO_SUCH_PROGRAM);
        if (isTools) {
            return new NotStarted(exitCode, line.substring(LAST_TOOL.length() + 2));
        }
        boolean isTooOld = (exitCode == GNU_MISUSE || exitCode == MISUSE)
                && line.contains(" option")
                && Stream.of("env: ", "setsid: ", LAST_TOOL + ": ").anyMatch(line::startsWith);
        return isTooOld ? new NotStarted(NotStarted.CANNOT_RUN, line + "; " + VERSIONS) : null;
    }

    /** Returns the cause if the JDK could not start the tools. */
    static NotStarted refused(IOException reason) {
        return new NotStarted(NotStarted.CANNOT_RUN, Failure.words(reason));
    }

    private static void change(Map<String, String> environment, Map<String, @Nullable String> changes) {
        for (Map.Entry<String, @Nullable String> change : changes.entrySet()) {
            String value = change.getValue();
            if (value == null) {
                environment.remove(change.getKey());
            } else {
                environment.put(change.getKey(), value);
            }
        }
    }

    private static @Nullable String path(ProcessSpec program) {
        Map<String, @Nullable String> changes = program.environment();
        return changes.containsKey("PATH") ? changes.get("PATH") : System.getenv("PATH");
    }

    private static List<Path> places(String name, @Nullable String path, Path here) {
        List<Path> places = new ArrayList<>();
        for (String folder : (path == null ? SystemTools.USUAL_PATH : path).split(":", -1)) {
            places.add(here.resolve(folder).resolve(name));
        }
        return places;
    }
}
