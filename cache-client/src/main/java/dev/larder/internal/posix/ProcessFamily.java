package dev.larder.internal.posix;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A process and its descendants.
 *
 * <p>They have three marks, because a process can lose each of them: the parent, the session of the first process (a child leaves it with
 * {@code setsid}), and a variable with a random token in the initial environment (an orphan loses its parent, but keeps that). The members
 * of a family inside another one, such as a launcher that was launched, have the tokens of both. Thread-safe.
 */
public final class ProcessFamily {

    /** No session has this number. */
    private static final long NO_SESSION = -1;

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
    private volatile long first = NO_SESSION;

    private ProcessFamily(String variable, String token, Predicate<String> isToken) {
        this.variable = variable;
        this.token = token;
        this.isToken = isToken;
    }

    /** Returns a new family without members, whose token is in an environment variable. */
    public static ProcessFamily begin(String variable) {
        String token = UUID.randomUUID().toString();
        return new ProcessFamily(variable, token, value -> value.contains(token));
    }

    /** Returns the family of processes that were started with a variable of this value. */
    public static ProcessFamily startedWith(String variable, String value) {
        return new ProcessFamily(variable, value, value::equals);
    }

    /** Returns the random token of the members. */
    public String token() {
        return token;
    }

    /** Adds the token to an environment, in which a process also stays in earlier families. */
    public void mark(Map<String, String> environment) {
        environment.merge(variable, token, (inherited, own) -> inherited.isEmpty() ? own : inherited + "/" + own);
    }

    /** Names the process that leads the family's session. */
    public void leadBy(long pid) {
        first = pid;
    }

    /** Returns the living members, the oldest first: parents before their children. */
    public List<ProcessHandle> members() {
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

    /** Sends SIGTERM to all members: parents first, or they would notice the death of a child before their own signal. */
    public void terminate() {
        members().forEach(ProcessHandle::destroy);
    }

    /** Kills all members, and the processes that they start meanwhile; false if some cannot be killed. */
    public boolean kill() {
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

    /** Reads the entry of a process in {@code /proc}; null if it is gone, or a zombie. */
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
