package dev.larder.internal.process;

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
 * A process and all its descendants. Thread-safe.
 *
 * <p>Three marks identify the members, because a process can lose each: the parent, if that is a member; the session of the first process (a child leaves
 * it with {@code setsid}); and a variable with a random token in the environment (an orphan keeps it). A family inside another, of a launcher that was
 * launched, has the tokens of both.
 */
public final class ProcessFamily {
    /** The variable with the tokens of the families of a process. */
    public static final String VARIABLE = "LARDER_FAMILY";

    /** The id of no session. */
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

    /** Returns a family without members. */
    public static ProcessFamily begin() {
        String token = UUID.randomUUID().toString();
        return new ProcessFamily(VARIABLE, token, value -> value.contains(token));
    }

    /** Returns the family of all processes that were started with a value of a variable. */
    public static ProcessFamily startedWith(String variable, String value) {
        return new ProcessFamily(variable, value, value::equals);
    }

    /** Returns the token of this family. */
    public String token() {
        return token;
    }

    /** Returns the value of {@link #VARIABLE} that makes a process a member, and leaves it in families it is in already. */
    public String mark(@Nullable String inherited) {
        return inherited == null || inherited.isEmpty() ? token : inherited + "/" + token;
    }

    /** Sets the process that leads the family's session. */
    public void leadBy(long pid) {
        first = pid;
    }

    /** Returns the living members, the oldest first, so that parents come before their children. */
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

    /** Sends SIGTERM to all members; to parents first, so that they expect the end of their children. */
    public void terminate() {
        members().forEach(ProcessHandle::destroy);
    }

    /** Kills all members, and those that they start meanwhile; returns false if one cannot be killed. */
    public boolean kill() {
        for (int round = 0; round < ROUNDS; round++) {
            List<ProcessHandle> members = members();
            if (members.isEmpty()) {
                first = NO_SESSION; // another process may get the same id
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

    /** Returns the entry of a process in {@code /proc}; null if it is gone, or a zombie. */
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
