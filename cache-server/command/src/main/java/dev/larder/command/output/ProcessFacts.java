package dev.larder.command.output;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Facts about a process from {@code /proc}.
 *
 * @param command its command line in one line, without control characters
 * @param program the command line without details: for a JVM, its main class and arguments
 * @param state the kernel's letter: {@code R} runs, {@code S} sleeps, {@code T} was stopped by a signal
 * @param startTicks when it started; pid and start identify a process
 * @param cpuTicks processor time used, in hundredths of a second
 * @param residentBytes memory, shared pages included
 * @param run its run; null if it has none or must not be read
 */
public record ProcessFacts(
        long pid,
        int uid,
        String user,
        String command,
        String program,
        char state,
        long startTicks,
        long cpuTicks,
        long residentBytes,
        int threads,
        @Nullable RunFacts run) {
    private static final Path PROCESSES = Path.of("/proc");

    // positions in /proc/PID/stat, counted from the state
    private static final int CPU_USER = 11;
    private static final int CPU_SYSTEM = 12;
    private static final int THREADS = 17;
    private static final int START = 19;

    /** Reads the facts of a process; empty if it does not exist. */
    public static Optional<ProcessFacts> of(long pid) {
        return of(PROCESSES, pid);
    }

    static Optional<ProcessFacts> of(Path processes, long pid) {
        Path folder = processes.resolve(Long.toString(pid));
        try {
            String stat = Files.readString(folder.resolve("stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
            Map<String, String> status = status(folder);
            List<String> words = words(folder);
            int uid = Integer.parseInt(status.getOrDefault("Uid", "-1").split("\\s+", -1)[0]);
            return Optional.of(new ProcessFacts(
                    pid,
                    uid,
                    user(folder, uid),
                    orName(String.join(" ", words), status),
                    orName(ProgramLine.of(words), status),
                    fields[0].charAt(0),
                    Long.parseLong(fields[START]),
                    Long.parseLong(fields[CPU_USER]) + Long.parseLong(fields[CPU_SYSTEM]),
                    kibibytes(status.getOrDefault("VmRSS", "0 kB")),
                    Integer.parseInt(fields[THREADS]),
                    RunFacts.of(folder)));
        } catch (IOException | UncheckedIOException | IndexOutOfBoundsException | NumberFormatException gone) {
            return Optional.empty();
        }
    }

    /** Returns whether it was stopped by a signal or a debugger. */
    public boolean isStopped() {
        return state == 'T' || state == 't';
    }

    private static Map<String, String> status(Path folder) throws IOException {
        try (Stream<String> lines = Files.lines(folder.resolve("status"), StandardCharsets.ISO_8859_1)) {
            return lines.filter(line -> line.indexOf(':') > 0)
                    .collect(Collectors.toMap(
                            line -> line.substring(0, line.indexOf(':')),
                            line -> line.substring(line.indexOf(':') + 1).strip(),
                            (first, second) -> first));
        }
    }

    private static long kibibytes(String text) {
        return Long.parseLong(text.split(" ", -1)[0]) * 1024;
    }

    /** Returns the user. The owner of the folder is root for processes that must not be inspected. */
    private static String user(Path folder, int uid) throws IOException {
        Object owner = Files.getAttribute(folder, "unix:uid");
        PosixFileAttributeView view = Files.getFileAttributeView(folder, PosixFileAttributeView.class);
        return owner.equals(uid) ? view.getOwner().getName() : Integer.toString(uid);
    }

    private static List<String> words(Path folder) throws IOException {
        String line = Files.readString(folder.resolve("cmdline"), StandardCharsets.ISO_8859_1);
        return line.isEmpty() ? List.of() : List.of(line.replaceFirst("\0$", "").split("\0", -1));
    }

    /** Returns the command line, or the name if there is none, as ps does. */
    private static String orName(String line, Map<String, String> status) {
        String printable = printable(line.strip());
        return printable.isEmpty() ? "[" + printable(status.getOrDefault("Name", "?")) + "]" : printable;
    }

    /** Returns printable text: names and words are bytes that may not be UTF-8. */
    private static String printable(String bytes) {
        return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8)
                .replaceAll("[\n\r\t]\\s*", " ")
                .replaceAll("\\p{C}", "?");
    }
}
