package dev.larder.command.doctor;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A resource limit of a process.
 *
 * @param soft the limit in force, {@code unlimited} or a number
 * @param hard the highest soft limit that the process may set
 */
record ResourceLimit(String soft, String hard) {
    private static final Pattern PARENT = Pattern.compile("(?s)\\d+ \\(.*\\) \\S (?<pid>\\d+) .*");

    /** Reads a limit of the parent process, because a JVM raises its own limit of open files. */
    static Optional<ResourceLimit> of(Machine machine, String name) {
        Matcher parent = PARENT.matcher(machine.text("/proc/self/stat").orElse(""));
        if (parent.matches()) {
            Optional<ResourceLimit> found = in(machine, "/proc/" + parent.group("pid") + "/limits", name);
            if (found.isPresent()) {
                return found;
            }
        }
        return in(machine, "/proc/self/limits", name);
    }

    private static Optional<ResourceLimit> in(Machine machine, String file, String name) {
        return machine.lines(file).stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).strip().split("\\s+"))
                .filter(words -> words.length >= 2)
                .map(words -> new ResourceLimit(words[0], words[1]))
                .findFirst();
    }

    /** Returns the highest limit that the process can set. */
    long hardNumber() {
        return number(hard);
    }

    long softNumber() {
        return number(soft);
    }

    private static long number(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException unlimited) {
            return Long.MAX_VALUE;
        }
    }

    @Override
    public String toString() {
        return "soft=" + soft + " hard=" + hard;
    }
}
