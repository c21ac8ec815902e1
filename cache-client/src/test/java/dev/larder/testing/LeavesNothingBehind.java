package dev.larder.testing;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * Fails a test that leaves something behind: child processes, threads, open files or mappings in {@code /dev/shm}, or stores
 * there. Looks before and after each test, and before and after the class; gives what is on its way out some seconds.
 *
 * <p>Of the entries of {@code /dev/shm} it sees those that {@link #newStore} and {@link StoreFixture} name, so that tests of
 * several builds can run side by side.
 */
public final class LeavesNothingBehind
        implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback {

    private static final Namespace NAMESPACE = Namespace.create(LeavesNothingBehind.class);
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private static final String OWN_PREFIX = prefix() + ProcessHandle.current().pid() + "-";
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long RETRY_NANOS = 10_000_000;

    /** Threads that the JDK or a library starts once, when it likes. */
    private static final List<String> LASTING_THREADS = List.of(
            "Attach Listener",
            "ForkJoinPool.commonPool",
            "CompletableFutureDelayScheduler",
            "Common-Cleaner",
            "Cleaner-",
            "JNA Cleaner",
            "process reaper",
            "junit-",
            "Timer-",
            "background~resource~releaser", // of Chronicle Map
            "surefire-",
            "Notification Thread",
            "awaitility");

    /** Returns how names in {@code /dev/shm} begin, by which {@code ops/test} knows what its own run has left there. */
    public static String prefix() {
        String run = System.getenv("LARDER_TEST_RUN");
        return "larder-test-" + (run == null ? "" : run + "-");
    }

    /** Returns a path in {@code /dev/shm} for a store that does not exist yet. */
    public static Path newStore() {
        return SHARED_MEMORY.resolve(OWN_PREFIX + Long.toString(System.nanoTime(), Character.MAX_RADIX));
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        remember(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        remember(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        requireNothingNew(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        requireNothingNew(context);
    }

    /** What was there before a test. */
    private record Traces(Set<String> found) {}

    private static void remember(ExtensionContext context) {
        context.getStore(NAMESPACE).put(context.getUniqueId(), new Traces(traces()));
    }

    private static void requireNothingNew(ExtensionContext context) {
        Traces before = requireNonNull(context.getStore(NAMESPACE).get(context.getUniqueId(), Traces.class));
        long begin = System.nanoTime();
        Set<String> left = newTraces(before);
        while (!left.isEmpty() && System.nanoTime() - begin < PATIENCE.toNanos()) {
            LockSupport.parkNanos(RETRY_NANOS);
            left = newTraces(before);
        }
        if (!left.isEmpty()) {
            throw new AssertionError(context.getDisplayName() + " left behind:\n  " + String.join("\n  ", left));
        }
    }

    private static Set<String> newTraces(Traces before) {
        Set<String> left = traces();
        left.removeAll(before.found());
        return left;
    }

    private static Set<String> traces() {
        Set<String> traces = new TreeSet<>();
        ProcessHandle.current()
                .descendants()
                .forEach(child -> traces.add("process " + child.pid() + " "
                        + child.info().commandLine().orElse("")));
        Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> LASTING_THREADS.stream().noneMatch(thread.getName()::startsWith))
                .forEach(thread -> traces.add("thread " + thread.getName() + " #" + thread.getId()));
        entries(SHARED_MEMORY)
                .filter(path -> path.getFileName().toString().startsWith(OWN_PREFIX))
                .forEach(path -> traces.add("store " + path));
        entries(Path.of("/proc/self/fd")).forEach(descriptor -> addOpenFile(descriptor, traces));
        traces.addAll(mappings());
        return traces;
    }

    private static Stream<Path> entries(Path folder) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            List<Path> found = new ArrayList<>();
            entries.forEach(found::add);
            return found.stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void addOpenFile(Path descriptor, Set<String> traces) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            if (target.contains(OWN_PREFIX)) {
                traces.add("open file " + descriptor.getFileName() + " " + target);
            }
        } catch (IOException closedMeanwhile) {
            // then it is not left behind
        }
    }

    private static Set<String> mappings() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(OWN_PREFIX))
                    .map(line -> "mapping " + line)
                    .collect(Collectors.toSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
