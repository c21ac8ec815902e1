package dev.larder.server.reader;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The processes that a reader has left: those of its session, and those that carry its token in their environment, as a child leaves the
 * session with {@code setsid} and an orphan has no parent any more.
 */
final class ReaderFamily {
    static final String VARIABLE = "LARDER_READER";

    private static final Path PROC = Path.of("/proc");
    private static final int STATE_FIELD = 0;
    private static final int SESSION_FIELD = 3;
    private static final int ROUNDS = 100;
    private static final long PAUSE_NANOS = 2_000_000;

    private ReaderFamily() {}

    /** Kills them all, and those that they start meanwhile; returns false if one cannot be killed. */
    static boolean kill(long session, String token) {
        for (int round = 0; round < ROUNDS; round++) {
            List<ProcessHandle> members = members(session, token);
            if (members.isEmpty()) {
                return true;
            }
            members.forEach(ProcessHandle::destroyForcibly);
            LockSupport.parkNanos(PAUSE_NANOS); // the kernel takes a moment to end them
        }
        return false;
    }

    private static List<ProcessHandle> members(long session, String token) {
        List<ProcessHandle> members = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path process : processes) {
                if (isMember(process, session, token)) {
                    ProcessHandle.of(Long.parseLong(process.getFileName().toString()))
                            .ifPresent(members::add);
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("/proc cannot be read", e);
        }
        return members;
    }

    private static boolean isMember(Path process, long session, String token) {
        try {
            String stat = text(process.resolve("stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", SESSION_FIELD + 2);
            boolean isDead = fields[STATE_FIELD].equals("Z") || fields[STATE_FIELD].equals("X");
            return !isDead
                    && (Long.parseLong(fields[SESSION_FIELD]) == session
                            || text(process.resolve("environ")).contains(VARIABLE + "=" + token));
        } catch (IOException goneOrOfAnotherUser) {
            return false;
        }
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    }
}
