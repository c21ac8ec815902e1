package dev.larder.spark.launch;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;

/** Settings without which Spark does not start a gang, does not start it again, or starts it beside other tasks. */
public final class SparkSettings {
    /** How often a stage may be started, its first time included. */
    static final String ATTEMPTS = "spark.stage.maxConsecutiveAttempts";

    private static final String DYNAMIC = "spark.dynamicAllocation.enabled";
    private static final String AUTHENTICATE = "spark.authenticate";
    private static final String PLUGINS = "spark.plugins";
    private static final String EXECUTOR_CORES = "spark.executor.cores";
    private static final Pattern LOCAL_CLUSTER =
            Pattern.compile("local-cluster\\[\\s*\\d+\\s*,\\s*(?<cores>\\d+)\\s*,\\s*(?<memory>\\d+)\\s*\\]");

    private SparkSettings() {}

    /**
     * Adds what a launch needs to the settings of a context that is to be made; what is set already stays, but for what would keep a
     * gang from starting.
     *
     * @param nodes the most nodes of a launch; each takes one executor for itself
     * @param ranks of each node, for which an executor asks for as many cores
     * @param maxRestarts how often a launch may start again after the loss of an executor
     */
    public static SparkConf apply(SparkConf conf, int nodes, int ranks, int maxRestarts) {
        conf.set(DYNAMIC, "false"); // Spark starts no gang with it
        conf.set(ATTEMPTS, Integer.toString(maxRestarts + 1));
        conf.setIfMissing("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s");
        conf.setIfMissing("spark.barrier.sync.timeout", "120s");
        conf.set("spark.speculation", "false");
        Matcher local = LOCAL_CLUSTER.matcher(conf.get("spark.master", ""));
        if (local.matches()) {
            conf.setIfMissing(EXECUTOR_CORES, local.group("cores"));
            conf.setIfMissing("spark.executor.memory", local.group("memory") + "m");
            conf.setIfMissing("spark.ui.enabled", "false");
            if (!conf.contains(AUTHENTICATE)) { // executors get it by their environment
                conf.set(AUTHENTICATE, "true");
                conf.set("spark.authenticate.secret", SparkLaunch.randomText(32));
            }
        }
        conf.setIfMissing(EXECUTOR_CORES, Integer.toString(ranks));
        int cores = Integer.parseInt(conf.get(EXECUTOR_CORES));
        conf.set("spark.task.cpus", Integer.toString(cores)); // one node an executor
        conf.setIfMissing("spark.cores.max", Integer.toString(nodes * cores));
        conf.setIfMissing("spark.executor.instances", Integer.toString(nodes));
        // What a launch starts belongs to its executor, not to the family of the program that started Spark.
        conf.setIfMissing("spark.executorEnv.LARDER_FAMILY", "");
        String plugins = conf.get(PLUGINS, "");
        if (!plugins.contains(LinesPlugin.class.getName())) {
            conf.set(PLUGINS, (plugins.isEmpty() ? "" : plugins + ",") + LinesPlugin.class.getName());
        }
        return conf;
    }

    /** Refuses a context that cannot start a gang. */
    static void require(SparkConf conf, int maxRestarts) {
        if (conf.getBoolean(DYNAMIC, false)) {
            throw unfit(DYNAMIC, "true", "false");
        }
        int attempts = conf.getInt(ATTEMPTS, 4);
        if (attempts <= maxRestarts) {
            throw unfit(ATTEMPTS, attempts, maxRestarts + 1);
        }
    }

    private static RuntimeException unfit(String setting, Object is, Object wanted) {
        return Failure.of(ErrorCode.USAGE, "this Spark context cannot start the nodes of a launch")
                .with(setting, is)
                .with("wanted", wanted)
                .remedy("make the context with SparkSettings.apply(conf, nodes, ranks, maxRestarts)");
    }
}
