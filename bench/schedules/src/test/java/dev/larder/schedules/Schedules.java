package dev.larder.schedules;

import dev.larder.internal.layout.StoreLocation;
import dev.larder.testing.LeavesNothingBehind;
import dev.larder.testing.Rounds;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import kotlin.Unit;
import org.jspecify.annotations.Nullable;
import org.pastalab.fray.core.TestRunner;
import org.pastalab.fray.core.command.Configuration;
import org.pastalab.fray.core.command.ExecutionInfo;
import org.pastalab.fray.core.command.LambdaExecutor;
import org.pastalab.fray.core.command.NetworkDelegateType;
import org.pastalab.fray.core.command.SystemTimeDelegateType;
import org.pastalab.fray.core.observers.TimelineCoverage;
import org.pastalab.fray.core.observers.TimelineCoverageType;
import org.pastalab.fray.core.randomness.ControlledRandom;
import org.pastalab.fray.core.randomness.RandomnessProvider;
import org.pastalab.fray.core.scheduler.POSScheduler;

/**
 * Runs a scenario again and again, each time in another order of its threads, which Fray chooses at random. {@link Rounds} tells how to have
 * more of them, or those of a run that printed its seed.
 */
public final class Schedules {
    private static final Path REPORTS = Path.of("target", "fray", "reports");

    private final String what;
    private final Class<? extends Scenario> scenario;
    private final int usual;
    private final List<String> watched;
    private final boolean isVirtual;

    /** Something that threads do together, from the beginning to the end; a failure of any of them, or a wait without end, is a bug. */
    public interface Scenario extends Runnable, AutoCloseable {
        @Override
        void close();
    }

    /**
     * The end of an exploration.
     *
     * @param schedules how many were run, the failing one included
     * @param orders how many of them differ in the order in which threads touch what they share
     */
    private record Explored(
            int schedules, int orders, @Nullable Throwable failure) {}

    private Schedules(
            String what, int usual, Class<? extends Scenario> scenario, List<String> watched, boolean isVirtual) {
        this.what = what;
        this.usual = usual;
        this.scenario = scenario;
        this.watched = watched;
        this.isVirtual = isVirtual;
    }

    /**
     * Plans to explore a scenario, whose constructor takes an empty folder in shared memory.
     *
     * @param usual how many orders are enough for a quick look
     * @param watched classes of which each access to a field counts
     */
    public static Schedules of(String what, int usual, Class<? extends Scenario> scenario, Class<?>... watched) {
        return new Schedules(what, usual, scenario, names(watched), false);
    }

    /** Returns these with a clock that advances only if all threads wait: a wake-up that is lost shows as a time limit that has passed. */
    public Schedules inVirtualTime() {
        return new Schedules(what, usual, scenario, watched, true);
    }

    private static List<String> names(Class<?>... classes) {
        return Stream.of(classes).map(Class::getName).toList();
    }

    /** Explores the scenario with all its locks. Fails if one order does. */
    public void requireSound() {
        Rounds rounds = Rounds.of(what, usual);
        Explored explored = explore(rounds, Set.of());
        if (explored.failure() != null) {
            throw new AssertionError(what + ": " + told(rounds, explored), explored.failure());
        } else if (explored.schedules() != rounds.count()) {
            throw new AssertionError("stopped early: " + told(rounds, explored));
        }
    }

    /** Explores the scenario without the locks of some classes. Fails unless one order does, and returns how. */
    public Throwable requireFound(Class<?>... unlocked) {
        Set<String> names = Set.copyOf(names(unlocked));
        Rounds rounds = Rounds.of(what + " without the locks of " + names, usual);
        Explored explored = explore(rounds, names);
        if (explored.failure() == null) {
            throw new AssertionError("nothing was found without the locks of " + names + ": " + told(rounds, explored));
        }
        return explored.failure();
    }

    private static String told(Rounds rounds, Explored explored) {
        return "schedules=" + explored.schedules() + " orders=" + explored.orders() + " seed=" + rounds.seed();
    }

    private Explored explore(Rounds rounds, Set<String> unlocked) {
        PrintStream out = System.out;
        try (PrintStream progress = newReport("progress.txt")) {
            System.setOut(progress); // Fray clears the screen
            Path folder = unlocked.isEmpty() ? LeavesNothingBehind.newFolder() : newFolderOfEndedThreads();
            Explored explored = explore(rounds, new ScheduledClasses(watched, unlocked), folder);
            out.println(what + (unlocked.isEmpty() ? "" : " without the locks of " + unlocked) + ": "
                    + told(rounds, explored) + (explored.failure() == null ? "" : " found=" + explored.failure()));
            return explored;
        } catch (IOException | ReflectiveOperationException e) {
            throw new AssertionError(e);
        } finally {
            System.setOut(out);
        }
    }

    private static PrintStream newReport(String name) throws IOException {
        Files.createDirectories(REPORTS);
        return new PrintStream(Files.newOutputStream(REPORTS.resolve(name)), true, StandardCharsets.UTF_8);
    }

    /** Makes a folder whose open files are no fault: after a failure Fray ends all threads, also between an open and its close. */
    private static Path newFolderOfEndedThreads() throws IOException {
        String run = System.getenv()
                .getOrDefault("LARDER_TEST_RUN", "none"); // its scenario removes it, which ops/test checks
        return Files.createTempDirectory(StoreLocation.writablePlace(), "larder-schedules-" + run + "-");
    }

    private Explored explore(Rounds rounds, ScheduledClasses classes, Path folder) throws ReflectiveOperationException {
        Constructor<?> constructor = classes.loadClass(scenario.getName()).getDeclaredConstructor(Path.class);
        constructor.setAccessible(true); // another loader's package is another one
        Object made = constructor.newInstance(folder);
        try {
            Configuration settings = settings((Runnable) made, rounds);
            Throwable failure = new TestRunner(settings).run();
            TimelineCoverage orders = settings.getTimelineCoverage();
            return new Explored(
                    settings.getCurrentIteration() + (failure == null ? 0 : 1),
                    orders == null ? 0 : orders.getCoverage(),
                    failure);
        } finally {
            close((AutoCloseable) made);
        }
    }

    private static void close(AutoCloseable scenario) {
        try {
            scenario.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private Configuration settings(Runnable run, Rounds rounds) {
        Random seeds = rounds.random();
        RandomnessProvider random =
                () -> new ControlledRandom(new ArrayList<>(), new ArrayList<>(), new Random(seeds.nextLong()));
        ExecutionInfo execution = new ExecutionInfo(
                new LambdaExecutor(() -> {
                    run.run();
                    return Unit.INSTANCE;
                }),
                /* ignoreUnhandledExceptions */ false,
                /* interleaveMemoryOps */ false,
                /* maxScheduledStep */ -1);
        return new Configuration(
                execution,
                REPORTS.resolve(what.replace(' ', '-')),
                rounds.count(),
                /* timeout */ Integer.MAX_VALUE,
                new POSScheduler(random.getRandomness()),
                random,
                /* fullSchedule */ false,
                /* exploreMode */ false,
                /* noExitWhenBugFound */ true,
                /* isReplay */ false,
                /* noFray */ false,
                /* dummyRun */ false,
                NetworkDelegateType.NONE,
                isVirtual ? SystemTimeDelegateType.MOCK : SystemTimeDelegateType.NONE,
                /* virtualTimeDelta */ 1_000,
                /* ignoreTimedBlock */ !isVirtual, // else every time limit passes when all threads wait
                /* sleepAsYield */ true,
                /* resetClassLoader */ false,
                /* redirectStdout */ false,
                /* abortThreadExecutionAfterMainExit */ false,
                /* resolveRacingOperationStackTraceHash */ false,
                TimelineCoverageType.RESOURCE_ORDERING);
    }
}
