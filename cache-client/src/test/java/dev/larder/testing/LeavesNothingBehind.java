package dev.larder.testing;

import static java.util.Objects.requireNonNull;

import dev.larder.internal.layout.StoreLocation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.opentest4j.TestAbortedException;

/**
 * Fails a test that leaves something behind: child processes, threads, open files or mappings in {@code /dev/shm}, or stores
 * there or in {@code /var/tmp}. Looks before and after each test, and before and after the class; gives what is on its way out some seconds. At a class
 * it looks everywhere; at a test only where something can be, which is what makes it cheap.
 *
 * <p>JUnit finds it by itself, for every test of a module that has this jar. A module whose tests share a JVM at the same time
 * must not have it: one test would answer for what another has under way.
 *
 * <p>Of the entries of {@code /dev/shm} it sees those that {@link #newStore} names, so that tests of several JVMs and builds can
 * run side by side.
 */
public final class LeavesNothingBehind
        implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback {

    private static final Namespace NAMESPACE = Namespace.create(LeavesNothingBehind.class);
    private static final Path DISK = Path.of("/var/tmp");
    private static final String OWN_PREFIX = prefix() + ProcessHandle.current().pid() + "-";

    /** The configuration parameter that says how long what is on its way out is waited for. */
    static final String PATIENCE_SECONDS = "larder.leaves.patience.seconds";

    /** The configuration parameter that says how threads begin which a test's class ends, not the test: a library's pools, with commas. */
    private static final String THREADS_OF_CLASSES = "larder.leaves.threads.of.classes";

    private static final int USUAL_PATIENCE_SECONDS = 30;
    private static final String PROCESS = "process ";
    private static final String THREAD = "thread ";
    private static final String MAPPING = "mapping ";

    /** Goes only when the garbage of a daemon is collected; that is done once, at the end of the class. */
    private static final String COUNTERS_OF_A_DAEMON = "/counters (deleted)";

    /** The thread that the JDK has for each child, as long as the child lives. */
    private static final String CHILD_WAITER = "process reaper";

    private static final int SPARE_THREADS = 64;
    private static final long NEVER = -1;
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
            "Java2D Disposer", // of ImageIO
            "org.apache.hadoop.fs.FileSystem$Statistics",
            "awaitility");

    /** Returns how names in {@code /dev/shm} begin, by which {@code ops/test} knows what its own run has left there. */
    private static String prefix() {
        String run = System.getenv("LARDER_TEST_RUN");
        return "larder-test-" + (run == null ? "" : run + "-");
    }

    /** How many names of stores have been given. */
    private static final AtomicLong NAMED = new AtomicLong();

    /** Their number when the last look found that nothing bears one of them. */
    private static long namedWhenAllWereGone;

    /** Returns a path for a store that does not exist yet: in shared memory, or on a disk in a container. No other store lies beside it. */
    public static Path newStore() {
        return OwnFolder.PATH.resolve(Long.toString(NAMED.incrementAndGet()));
    }

    /** Returns a path on a disk for a store that does not exist yet; the test is skipped if {@code /var/tmp} is in memory. */
    static Path newStoreOnDisk() {
        try {
            String type = Files.getFileStore(DISK).type();
            if (Set.of("tmpfs", "ramfs").contains(type)) {
                throw new TestAbortedException(DISK + " is a " + type);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return DISK.resolve(OWN_PREFIX + NAMED.incrementAndGet());
    }

    /** Makes a folder where stores are, for this user only. */
    public static Path newFolder() {
        try {
            return Files.setPosixFilePermissions(
                    Files.createDirectory(newStore()), PosixFilePermissions.fromString("rwx------"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Removes the folder when hooks of others, which run at the same time, have removed what is theirs; or leaves it to be seen. */
    private static void removeOnceEmpty(Path folder) {
        for (int attempt = 0; attempt < 100 && !folder.toFile().delete(); attempt++) {
            LockSupport.parkNanos(RETRY_NANOS);
        }
    }

    /** The folder of this JVM for stores: a dead daemon's store that lies beside it is none of a test's business. */
    private static final class OwnFolder {
        static final Path PATH = create();

        private static Path create() {
            try {
                Path folder = Files.createTempDirectory(StoreLocation.writablePlace(), OWN_PREFIX);
                Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
                Runtime.getRuntime().addShutdownHook(new Thread(() -> removeOnceEmpty(folder)));
                return folder;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        remember(context, true);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        remember(context, false);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        requireNothingNew(context, false);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        requireNothingNew(context, true);
    }

    /** What was there before a test. */
    private record Traces(Set<String> found) {}

    private static void remember(ExtensionContext context, boolean everywhere) {
        context.getStore(NAMESPACE).put(context.getUniqueId(), new Traces(traces(everywhere)));
    }

    private static void requireNothingNew(ExtensionContext context, boolean everywhere) {
        Traces before = requireNonNull(context.getStore(NAMESPACE).get(context.getUniqueId(), Traces.class));
        long patienceNs = TimeUnit.SECONDS.toNanos(context.getConfigurationParameter(PATIENCE_SECONDS, Integer::valueOf)
                .orElse(USUAL_PATIENCE_SECONDS));
        long begin = System.nanoTime();
        List<String> ignored = everywhere ? List.of() : threadsOfClasses(context);
        Set<String> left = newTraces(before, everywhere, ignored);
        while (!left.isEmpty() && System.nanoTime() - begin < patienceNs) {
            if (left.stream().allMatch(trace -> trace.startsWith(MAPPING))) {
                System.gc(); // a mapping that is closed goes when nobody can reach it any more
            }
            LockSupport.parkNanos(RETRY_NANOS);
            left = newTraces(before, everywhere, ignored);
        }
        if (!left.isEmpty()) {
            throw new AssertionError(context.getDisplayName() + " left behind:\n  "
                    + left.stream().map(LeavesNothingBehind::described).collect(Collectors.joining("\n  ")));
        }
    }

    private static List<String> threadsOfClasses(ExtensionContext context) {
        return context.getConfigurationParameter(THREADS_OF_CLASSES)
                .map(names -> Arrays.stream(names.split(",", -1))
                        .map(name -> THREAD + name)
                        .toList())
                .orElse(List.of());
    }

    private static Set<String> newTraces(Traces before, boolean everywhere, List<String> ignored) {
        Set<String> left = traces(everywhere);
        left.removeAll(before.found());
        left.removeIf(trace -> ignored.stream().anyMatch(trace::startsWith));
        return left;
    }

    private static Set<String> traces(boolean everywhere) {
        Set<String> traces = new TreeSet<>();
        boolean mayHaveChildren = everywhere;
        for (Thread thread : threads()) {
            String name = thread.getName();
            mayHaveChildren |= name.startsWith(CHILD_WAITER);
            if (LASTING_THREADS.stream().noneMatch(name::startsWith)) {
                traces.add(THREAD + name + " #" + thread.getId());
            }
        }
        if (mayHaveChildren) {
            addChildren(Path.of("/proc/self/task"), traces);
        }
        long named = NAMED.get();
        if (everywhere || named != namedWhenAllWereGone) {
            Set<String> ofStores = ofStores(everywhere);
            namedWhenAllWereGone = ofStores.isEmpty() ? named : NEVER;
            traces.addAll(ofStores);
        }
        return traces;
    }

    /** Returns all threads; {@link Thread#getAllStackTraces} stops them to do so. */
    private static List<Thread> threads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] threads = new Thread[2 * root.activeCount() + SPARE_THREADS];
        return Arrays.asList(threads).subList(0, root.enumerate(threads));
    }

    private static Set<String> ofStores(boolean everywhere) {
        Set<String> traces = mappings(everywhere);
        if (NAMED.get() > 0) {
            entries(OwnFolder.PATH).forEach(path -> traces.add("store " + path));
        }
        if (everywhere && !OwnFolder.PATH.startsWith(DISK)) {
            entries(DISK)
                    .filter(path -> String.valueOf(path.getFileName()).startsWith(OWN_PREFIX))
                    .forEach(path -> traces.add("store " + path));
        }
        entries(Path.of("/proc/self/fd")).forEach(descriptor -> addOpenFile(descriptor, traces));
        return traces;
    }

    /** Adds all descendants; {@link ProcessHandle#descendants} reads of every process of the machine, which takes 10 times as long. */
    private static void addChildren(Path tasks, Set<String> traces) {
        try {
            for (Path task : entries(tasks).toList()) {
                for (String child : children(task)) {
                    traces.add(PROCESS + child);
                    addChildren(Path.of("/proc", child, "task"), traces);
                }
            }
        } catch (UncheckedIOException endedMeanwhile) {
            // then it is not left behind
        }
    }

    private static List<String> children(Path task) {
        try {
            String children = Files.readString(task.resolve("children"), StandardCharsets.US_ASCII);
            return children.isBlank() ? List.of() : List.of(children.strip().split(" ", -1));
        } catch (IOException endedMeanwhile) {
            return List.of();
        }
    }

    private static String described(String trace) {
        if (!trace.startsWith(PROCESS)) {
            return trace;
        }
        long pid = Long.parseLong(trace.substring(PROCESS.length()));
        return trace + " "
                + ProcessHandle.of(pid)
                        .flatMap(process -> process.info().commandLine())
                        .orElse("");
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

    private static Set<String> mappings(boolean everywhere) {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(OWN_PREFIX))
                    .filter(line -> everywhere || !line.endsWith(COUNTERS_OF_A_DAEMON))
                    .map(line -> MAPPING + line)
                    .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
