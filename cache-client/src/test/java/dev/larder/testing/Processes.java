package dev.larder.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/** What a test does to processes that it knows by their numbers. */
public final class Processes {
    private static final char ZOMBIE = 'Z';
    private static final char STOPPED = 'T';

    private Processes() {}

    /**
     * Sends a signal, named without SIG, to all of them by one call. Returns after STOP only when no thread of theirs runs any more,
     * which takes a moment.
     */
    public static void signal(String name, long... pids) {
        List<String> command = new ArrayList<>(List.of("kill", "-" + name));
        LongStream.of(pids).mapToObj(Long::toString).forEach(command::add);
        try {
            assertThat(new ProcessBuilder(command).start().waitFor()).isZero();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (name.equals("STOP")) {
            await().pollInterval(Duration.ofMillis(1))
                    .until(() -> LongStream.of(pids).allMatch(Processes::isStopped));
        }
    }

    /** Tells whether a process runs: neither gone, nor dead and not yet collected by its parent. */
    public static boolean isRunning(long pid) {
        try {
            return state(Path.of("/proc", Long.toString(pid))) != ZOMBIE;
        } catch (IOException gone) {
            return false;
        }
    }

    /** Waits until a process runs no more. */
    public static void awaitGone(long pid) {
        await("end of " + pid).pollInterval(Duration.ofMillis(5)).until(() -> !isRunning(pid));
    }

    private static boolean isStopped(long pid) {
        Path process = Path.of("/proc", Long.toString(pid));
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(process.resolve("task"))) {
            for (Path thread : threads) {
                char state = state(thread);
                if (state != STOPPED && state != ZOMBIE) {
                    return false;
                }
            }
            return true;
        } catch (IOException ended) { // a thread, or all of it
            return !Files.exists(process);
        }
    }

    private static char state(Path process) throws IOException {
        String stat = Files.readString(process.resolve("stat"));
        return stat.charAt(stat.lastIndexOf(')') + 2);
    }
}
