package dev.larder.spark.launch;

import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The Spark driver of {@code larder launch --via spark}, which starts it with Spark's class path and the user's options. SIGTERM ends the
 * ranks of all nodes.
 *
 * <p>Arguments are {@code KEY=VALUE}: {@code master}, {@code conf} (repeatable), {@code jar} for executors (repeatable) or {@code
 * jars=all}, {@code min}, {@code max}, {@code ranks}, {@code restarts}, {@code program}, {@code store}, {@code folder}, {@code meeting},
 * {@code join} and {@code grace} in ms, and {@code option} for the launchers (repeatable). The command follows {@code --}.
 */
public final class LaunchMain {
    /** Runs this hook before Spark's own hook, which ends the context. */
    private static final int HOOK_PRIORITY = 100;

    private static final long BEYOND_GRACE_SECONDS = 80;

    private final Map<String, String> single = new HashMap<>();
    private final List<String> options = new ArrayList<>();
    private final List<String> settings = new ArrayList<>();
    private final List<String> jars = new ArrayList<>();
    private final List<String> command = new ArrayList<>();

    private LaunchMain(List<String> arguments) {
        int end = arguments.indexOf("--");
        for (String argument : arguments.subList(0, end)) {
            int split = argument.indexOf('=');
            String key = argument.substring(0, split);
            String value = argument.substring(split + 1);
            switch (key) {
                case "option" -> options.add(value);
                case "conf" -> settings.add(value);
                case "jar" -> jars.add(value);
                default -> single.put(key, value);
            }
        }
        command.addAll(arguments.subList(end + 1, arguments.size()));
    }

    /** Runs the launch, and ends the process with its exit code. */
    public static void main(String[] arguments) {
        LaunchEnd end;
        try {
            end = new LaunchMain(List.of(arguments)).run(System.out, System.err);
        } catch (LarderException e) {
            end = new LaunchEnd(e.rawCode(), String.valueOf(e.getMessage()));
        } catch (Exception | LinkageError e) { // Spark declares no exceptions; another release has other classes
            end = new LaunchEnd(ErrorCode.UNEXPECTED.number(), "Spark failed: reason=" + e);
        }
        if (!end.message().isEmpty()) {
            String message = end.message();
            System.err.println(message.startsWith("larder: ") ? message : "larder: " + message);
        }
        System.out.flush();
        System.exit(end.exitCode());
    }

    private LaunchEnd run(PrintStream out, PrintStream err) {
        LaunchRequest request = request();
        CountDownLatch over = new CountDownLatch(1);
        try (JavaSparkContext spark = new JavaSparkContext(conf(request))) {
            SparkLaunch launch = SparkLaunch.of(spark, request, (text, isError) -> (isError ? err : out).println(text));
            long patience = request.grace().toSeconds() + BEYOND_GRACE_SECONDS;
            ShutdownHookManager.get()
                    .addShutdownHook(() -> stop(launch, over, patience), HOOK_PRIORITY, patience, TimeUnit.SECONDS);
            try {
                return launch.run();
            } finally {
                over.countDown();
            }
        }
    }

    private static void stop(SparkLaunch launch, CountDownLatch over, long seconds) {
        launch.stop();
        try {
            boolean unused = over.await(seconds, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String text(String key) {
        return single.getOrDefault(key, "");
    }

    private int number(String key) {
        return Integer.parseInt(text(key));
    }

    private Duration millis(String key) {
        return Duration.ofMillis(Long.parseLong(text(key)));
    }

    private LaunchRequest request() {
        String secret = System.getenv(RunSecret.VARIABLE);
        return new LaunchRequest(
                number("min"),
                number("max"),
                number("restarts"),
                options,
                command,
                text("program"),
                text("store"),
                text("folder"),
                secret == null ? "" : secret,
                millis("meeting"),
                millis("join"),
                millis("grace"));
    }

    private SparkConf conf(LaunchRequest request) {
        requireRelease();
        SparkConf conf = new SparkConf().setAppName("larder launch " + command.get(0));
        conf.setMaster(text("master"));
        conf.set("spark.log.level", "ERROR");
        for (String setting : settings) {
            int split = setting.indexOf('=');
            conf.set(setting.substring(0, split), setting.substring(split + 1));
        }
        if (text("jars").equals("all")) { // executors on this machine use the driver's class path
            conf.set("spark.executor.extraClassPath", System.getProperty("java.class.path", ""));
        } else {
            String named = conf.get("spark.jars", "");
            conf.set("spark.jars", String.join(",", jars) + (named.isEmpty() ? "" : "," + named));
        }
        return SparkSettings.apply(conf, request.maxNodes(), number("ranks"), request.maxRestarts());
    }

    private static void requireRelease() {
        String version = org.apache.spark.package$.MODULE$.SPARK_VERSION();
        if (!version.startsWith("4.2.")) {
            throw Failure.of(ErrorCode.USAGE, "this release of Spark is not supported")
                    .with("release", version)
                    .with(
                            "of",
                            SparkContext.class
                                    .getProtectionDomain()
                                    .getCodeSource()
                                    .getLocation())
                    .remedy("set SPARK_HOME to a Spark 4.2, or unset it to use the Spark of the adapter");
        }
    }
}
