package dev.larder.spark.launch;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;

/** Spark settings for a launch: Spark starts the gang, starts it again after a loss, and runs no other task on its executors. */
public final class SparkSettings {
    /** The limit of starts of a stage, including the first one. */
    static final String ATTEMPTS = "spark.stage.maxConsecutiveAttempts";

    private static final String DYNAMIC = "spark.dynamicAllocation.enabled";
    private static final String AUTHENTICATE = "spark.authenticate";
    private static final String PLUGINS = "spark.plugins";
    private static final String EXECUTOR_CORES = "spark.executor.cores";
    private static final Pattern LOCAL_CLUSTER =
            Pattern.compile("local-cluster\\[\\s*\\d+\\s*,\\s*(?<cores>\\d+)\\s*,\\s*(?<memory>\\d+)\\s*\\]");

    private SparkSettings() {}

    /**
     * Adds the settings of a launch, for a new context. Existing settings stay, except those that would prevent the start of a gang.
     *
     * @param nodes the largest number of nodes; each uses a whole executor
     * @param ranks the number of ranks of each node, and by default the number of its cores
     * @param maxRestarts the limit of restarts after the loss of an executor
     */
    public static SparkConf apply(SparkConf conf, int nodes, int ranks, int maxRestarts) {
        conf.set(DYNAMIC, "false"); // with dynamic allocation, Spark starts no gang
        conf.set(ATTEMPTS, Integer.toString(maxRestarts + 1));
        conf.setIfMissing("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s");
        conf.setIfMissing("spark.barrier.sync.timeout", "120s");
        conf.set("spark.speculation", "false");
        Matcher local = LOCAL_CLUSTER.matcher(conf.get("spark.master", ""));
        if (local.matches()) {
            conf.setIfMissing(EXECUTOR_CORES, local.group("cores"));
            conf.setIfMissing("spark.executor.memory", local.group("memory") + "m");
            conf.setIfMissing("spark.ui.enabled", "false");
            if (!conf.contains(AUTHENTICATE)) { // executors get the secret from their environment
                conf.set(AUTHENTICATE, "true");
                conf.set("spark.authenticate.secret", SparkLaunch.randomText(32));
            }
        }
        conf.setIfMissing(EXECUTOR_CORES, Integer.toString(ranks));
        int cores = Integer.parseInt(conf.get(EXECUTOR_CORES));
        conf.set("spark.task.cpus", Integer.toString(cores)); // one task fills an executor
        conf.setIfMissing("spark.cores.max", Integer.toString(nodes * cores));
        conf.setIfMissing("spark.executor.instances", Integer.toString(nodes));
        // Else the processes of a launch would belong to the family of the program that started Spark.
        conf.setIfMissing("spark.executorEnv.LARDER_FAMILY", "");
        String plugins = conf.get(PLUGINS, "");
        if (!plugins.contains(LinesPlugin.class.getName())) {
            conf.set(PLUGINS, (plugins.isEmpty() ? "" : plugins + ",") + LinesPlugin.class.getName());
        }
        return conf;
    }

    /** Throws USAGE if a context cannot start a gang. */
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
                .remedy("create the context with SparkSettings.apply(conf, nodes, ranks, maxRestarts)");
    }
}
