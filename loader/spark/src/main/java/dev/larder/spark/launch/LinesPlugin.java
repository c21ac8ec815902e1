package dev.larder.spark.launch;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.jspecify.annotations.Nullable;

/** Sends lines from executors to the driver, over Spark's own connection between them. */
public final class LinesPlugin implements SparkPlugin {
    /** The receiver of each launch's lines, by the name of the launch. For the driver. */
    private static final Map<String, LaunchOutput> TAKERS = new ConcurrentHashMap<>();

    private static volatile @Nullable PluginContext executor;

    /** Called by Spark. */
    public LinesPlugin() {}

    /** A line of a launch. */
    record Line(String text, boolean isError) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /** Consecutive lines of a launch. */
    record Lines(String launch, ArrayList<Line> lines) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /** Passes the lines of a launch to {@code output} until {@link #forget}. */
    static void take(String launch, LaunchOutput output) {
        TAKERS.put(launch, output);
    }

    static void forget(String launch) {
        TAKERS.remove(launch);
    }

    /** Sends lines from an executor, and waits until the driver has them; returns false if there is no plugin, or no driver. */
    static boolean send(String launch, List<Line> lines) {
        PluginContext context = executor;
        if (context == null) {
            return false;
        }
        try {
            Object unused = context.ask(new Lines(launch, new ArrayList<>(lines)));
            return true;
        } catch (Exception e) { // the executor's own output contains the lines
            return false;
        }
    }

    @Override
    public DriverPlugin driverPlugin() {
        return new DriverPlugin() {
            @Override
            public Object receive(Object message) {
                if (message instanceof Lines lines) {
                    LaunchOutput taker = TAKERS.get(lines.launch());
                    if (taker != null) {
                        lines.lines().forEach(line -> taker.line(line.text(), line.isError()));
                    }
                }
                return true;
            }
        };
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new ExecutorPlugin() {
            @Override
            public void init(PluginContext context, Map<String, String> settings) {
                executor = context;
            }
        };
    }
}
