package dev.larder.launch.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A process and all that came of it, however far removed.
 *
 * <p>Found by three marks, as each can be shed: children of members, the session that the first one leads (a child leaves it with
 * {@code setsid}), and a variable with a random token in the environment that each was started with (an orphan loses its parent,
 * but keeps that). A family inside another, of a launcher that was launched, carries the tokens of both.
 */
final class ProcessFamily {
    static final String VARIABLE = "LARDER_FAMILY";

    /** No session has it. */
    private static final long NOBODY = -1;

    private static final Path PROC = Path.of("/proc");
    private static final int PARENT_FIELD = 1;
    private static final int SESSION_FIELD = 3;
    private static final int START_FIELD = 19;
    private static final int ROUNDS = 200;
    private static final long PAUSE_NANOS = 2_000_000;
    private static final Comparator<Entry> OLDEST_FIRST =
            Comparator.comparingLong(Entry::startTicks).thenComparingLong(Entry::pid);

    private final String variable;
    private final Predicate<String> isToken;
    private final String token;
    private volatile long first = NOBODY;

    private ProcessFamily(String variable, String token, Predicate<String> isToken) {
        this.variable = variable;
        this.token = token;
        this.isToken = isToken;
    }

    /** Makes up a family that nobody belongs to yet. */
    static ProcessFamily begin() {
        String token = UUID.randomUUID().toString();
        return new ProcessFamily(VARIABLE, token, value -> value.contains(token));
    }

    /** Finds those that were started with a variable of this value. */
    static ProcessFamily startedWith(String variable, String value) {
        return new ProcessFamily(variable, value, value::equals);
    }

    String token() {
        return token;
    }

    /** Returns the value of {@link #VARIABLE} that makes a process a member, and leaves it in families it is in already. */
    String mark(@Nullable String inherited) {
        return inherited == null || inherited.isEmpty() ? token : inherited + "/" + token;
    }

    /** Names the process that leads the family's session. */
    void leadBy(long pid) {
        first = pid;
    }

    /** Returns those that live, the oldest first, so that nobody comes after a child of his own. */
    List<ProcessHandle> members() {
        List<Entry> entries = entries();
        Set<Long> found = new HashSet<>();
        boolean grows = true;
        while (grows) {
            grows = false;
            for (Entry entry : entries) {
                boolean belongs = entry.marked()
                        || entry.session() == first
                        || entry.pid() == first
                        || found.contains(entry.parent());
                grows |= belongs && found.add(entry.pid());
            }
        }
        return entries.stream()
                .filter(entry -> found.contains(entry.pid()))
                .sorted(OLDEST_FIRST)
                .map(entry -> ProcessHandle.of(entry.pid()))
                .flatMap(Optional::stream)
                .toList();
    }

    /** Asks all that live to end; parents first, or they would see their children die before they know why. */
    void terminate() {
        members().forEach(ProcessHandle::destroy);
    }

    /** Kills all that live, and those that they start meanwhile; false where some cannot be killed. */
    boolean kill() {
        for (int round = 0; round < ROUNDS; round++) {
            List<ProcessHandle> members = members();
            if (members.isEmpty()) {
                return true;
            }
            members.forEach(ProcessHandle::destroyForcibly);
            LockSupport.parkNanos(PAUSE_NANOS); // the kernel takes a moment to end them
        }
        return false;
    }

    private record Entry(long pid, long parent, long session, long startTicks, boolean marked) {}

    private List<Entry> entries() {
        List<Entry> entries = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path process : processes) {
                Entry entry = read(process);
                if (entry != null) {
                    entries.add(entry);
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("/proc cannot be read", e);
        }
        return entries;
    }

    /** Returns what stands in {@code /proc} of a process; null where it is gone, or dead and not yet collected. */
    private @Nullable Entry read(Path process) {
        try {
            String stat = text(process.resolve("stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", START_FIELD + 2);
            boolean isDead = fields[0].equals("Z") || fields[0].equals("X");
            return isDead
                    ? null
                    : new Entry(
                            Long.parseLong(process.getFileName().toString()),
                            Long.parseLong(fields[PARENT_FIELD]),
                            Long.parseLong(fields[SESSION_FIELD]),
                            Long.parseLong(fields[START_FIELD]),
                            isMarked(process));
        } catch (IOException gone) {
            return null;
        }
    }

    private boolean isMarked(Path process) {
        try {
            String environment = text(process.resolve("environ"));
            int at = ("\0" + environment).indexOf("\0" + variable + "=");
            if (at < 0) {
                return false;
            }
            int end = environment.indexOf('\0', at);
            String value = environment.substring(at + variable.length() + 1, end < 0 ? environment.length() : end);
            return isToken.test(new String(value.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8));
        } catch (IOException ofAnotherUser) {
            return false;
        }
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    }
}
