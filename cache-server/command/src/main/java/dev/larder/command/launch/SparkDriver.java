package dev.larder.command.launch;

import dev.larder.command.program.Caller;
import dev.larder.command.program.LarderScript;
import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import dev.larder.launch.process.ChildProcess;
import dev.larder.launch.process.EndReason;
import dev.larder.launch.process.ExitCause;
import dev.larder.launch.process.OutputLine;
import dev.larder.launch.process.OutputRedirect;
import dev.larder.launch.process.ProcessSpec;
import dev.larder.launch.process.RunningRanks;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Spark's driver: a program of its own with the class path of Spark, which this command never has. The lines of ranks return through it. It
 * ends with this process, even if that is killed.
 */
public final class SparkDriver implements RunningRanks {
    private static final String FOLDER_VARIABLE = "LARDER_SPARK";
    private static final String MAIN = "dev.larder.spark.launch.LaunchMain";
    private static final String LOCAL_CLUSTER = "local-cluster";

    /** The packages that the scripts of Spark open. */
    private static final List<String> OPENED = List.of(
            "java.lang",
            "java.lang.invoke",
            "java.lang.reflect",
            "java.io",
            "java.net",
            "java.nio",
            "java.util",
            "java.util.concurrent",
            "java.util.concurrent.atomic",
            "sun.nio.ch",
            "sun.nio.cs",
            "sun.security.action",
            "sun.util.calendar");

    private final List<String> words;
    private final Map<String, @Nullable String> environment;
    private final @Nullable Path scratch;
    private @Nullable ChildProcess driver;
    private boolean isStopped;

    private SparkDriver(List<String> words, Map<String, @Nullable String> environment, @Nullable Path scratch) {
        this.words = words;
        this.environment = environment;
        this.scratch = scratch;
    }

    /**
     * The nodes that Spark starts.
     *
     * @param ranks of each node, if that is a number
     * @param restarts the most restarts
     * @param store of each node; null for the default
     * @param command of the ranks
     */
    public record Wanted(
            int minNodes,
            int maxNodes,
            int ranks,
            int restarts,
            @Nullable Path store,
            Duration meeting,
            Duration join,
            Duration grace,
            RunSecret secret,
            List<String> command) {}

    /**
     * Prepares the driver.
     *
     * @throws LarderException USAGE if the adapter or Spark is missing
     */
    public static SparkDriver of(SparkOptions options, Wanted wanted) {
        Path adapter = adapter();
        List<Path> own = new ArrayList<>(jars(adapter));
        own.addAll(jars(adapter.resolve("lib")));
        List<Path> classPath = new ArrayList<>(own);
        classPath.addAll(spark(adapter));
        String master = options.master(wanted.maxNodes());
        boolean isEmbedded = master.startsWith(LOCAL_CLUSTER);
        Path scratch = isEmbedded ? scratch() : null;
        List<String> words = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        words.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"));
        words.addAll(List.of("-Dfile.encoding=UTF-8", "-Dsun.jnu.encoding=UTF-8")); // in every locale
        OPENED.forEach(name -> words.add("--add-opens=java.base/" + name + "=ALL-UNNAMED"));
        words.add("-Dlog4j2.configurationFile=larder-spark-log4j2.properties");
        words.addAll(List.of("-cp", joined(classPath), MAIN, "master=" + master));
        if (scratch == null) {
            own.forEach(jar -> words.add("jar=" + jar));
        } else {
            words.addAll(List.of("jars=all", "conf=spark.local.dir=" + scratch.resolve("local")));
        }
        options.settings.forEach(setting -> words.add("conf=" + setting));
        options.forNodes().forEach(option -> words.add("option=" + option));
        words.addAll(List.of(
                "min=" + wanted.minNodes(),
                "max=" + wanted.maxNodes(),
                "ranks=" + wanted.ranks(),
                "restarts=" + wanted.restarts(),
                "meeting=" + wanted.meeting().toMillis(),
                "join=" + wanted.join().toMillis(),
                "grace=" + wanted.grace().toMillis(),
                "program=" + Objects.requireNonNullElse(LarderScript.path(), "larder"),
                "store=" + (wanted.store() == null ? "" : wanted.store().toAbsolutePath()),
                "folder=" + Path.of("").toAbsolutePath(),
                "--"));
        words.addAll(wanted.command());
        return new SparkDriver(words, environment(wanted, scratch), scratch);
    }

    private static Map<String, @Nullable String> environment(Wanted wanted, @Nullable Path scratch) {
        Map<String, @Nullable String> environment = new HashMap<>(Caller.variables(System.getProperties()));
        if (wanted.secret().isGiven()) {
            environment.put(RunSecret.VARIABLE, wanted.secret().text());
        }
        if (scratch != null) {
            environment.put("SPARK_HOME", scratch.toString()); // its executors get their class path
            environment.put("SPARK_SCALA_VERSION", "2.13");
            environment.put("SPARK_LOCAL_IP", "127.0.0.1");
        }
        return environment;
    }

    private static Path adapter() {
        String named = System.getenv(FOLDER_VARIABLE);
        Path folder = named == null ? null : Path.of(named);
        if (folder == null || jars(folder).isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "Larder's adapter to Spark is missing")
                    .with(FOLDER_VARIABLE, named)
                    .remedy(
                            "build it in a checkout, which loads Spark's jars: mvn -B -q -Pspark -DskipTests package -pl"
                                    + " loader/spark -am; elsewhere, set " + FOLDER_VARIABLE
                                    + " to its loader/spark/target");
        }
        return folder;
    }

    /** Returns the jars of Spark: those of an installation, or those of the adapter's build. */
    private static List<Path> spark(Path adapter) {
        String home = System.getenv("SPARK_HOME");
        Path folder = home == null ? adapter.resolve("spark") : Path.of(home, "jars");
        List<Path> jars = jars(folder);
        if (jars.isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "Spark is missing")
                    .with("folder", folder)
                    .remedy(
                            "set SPARK_HOME to an installation of Spark 4.2, or unset it for the jars that the adapter was built"
                                    + " with");
        }
        return jars;
    }

    private static List<Path> jars(Path folder) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> entry.toString().endsWith(".jar"))
                    .filter(entry -> !entry.toString().matches(".*-(sources|javadoc|tests)\\.jar"))
                    .map(Path::toAbsolutePath)
                    .sorted()
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    private static String joined(List<Path> jars) {
        return jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /** Creates the folder of executors on this machine, which looks like an installation of Spark. */
    private static Path scratch() {
        try {
            Path folder = Files.createTempDirectory("larder-spark-");
            Files.createDirectory(folder.resolve("jars"));
            return folder;
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot make a folder for Spark's executors")
                    .with("below", System.getProperty("java.io.tmpdir"))
                    .with("reason", e)
                    .cause(e)
                    .remedy("make room there, or name another folder with TMPDIR");
        }
    }

    /** Runs it, shows its output, and returns its exit code. */
    public int run(PrintWriter out, PrintWriter err, LaunchSignals signals) {
        ProcessSpec spec = ProcessSpec.of(
                        words, OutputRedirect.apart(null, null, lines -> show(lines, out, err, signals)))
                .withEnvironment(environment);
        try (ChildProcess started = start(spec)) {
            signals.stop(this);
            ExitCause cause = started.await(Deadline.FOREVER).cause();
            if (cause instanceof ExitCause.Ended || signals.exitCode() != 0) {
                return signals.exitCode();
            }
            if (!(cause instanceof ExitCause.Exited)) {
                err.println("larder: Spark's driver is lost: cause=" + cause.text()
                        + "; its ranks were ended; start the launch again");
            }
            return cause.exitCode();
        } finally {
            if (scratch != null) {
                remove(scratch);
            }
        }
    }

    private synchronized ChildProcess start(ProcessSpec spec) {
        ChildProcess started = ChildProcess.start(spec);
        driver = started;
        if (isStopped) {
            terminate();
        }
        return started;
    }

    private static void show(List<OutputLine> lines, PrintWriter out, PrintWriter err, LaunchSignals signals) {
        RankDisplay.write("", lines, lines.get(0).isError() ? err : out, out, signals);
    }

    /** Removes the folder; a failure leaves only files. */
    private static void remove(Path folder) {
        try {
            Files.walkFileTree(folder, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException gone) {
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path left, @Nullable IOException failure) throws IOException {
                    Files.deleteIfExists(left);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            return;
        }
    }

    @Override
    public void interrupt() {
        terminate();
    }

    /** Signals the driver only, which ends the ranks; its own processes would otherwise die before them. */
    @Override
    public synchronized void terminate() {
        isStopped = true;
        if (driver != null) {
            ProcessHandle.of(driver.pid()).ifPresent(ProcessHandle::destroy);
        }
    }

    @Override
    public synchronized void kill() {
        isStopped = true;
        if (driver != null) {
            driver.end(EndReason.CANCELLED, Duration.ZERO);
        }
    }
}
