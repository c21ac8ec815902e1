package dev.larder.spark.launch;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.util.CollectionAccumulator;
import org.jspecify.annotations.Nullable;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Launches ranks on the executors of a Spark context. A gang of tasks, one for each node, starts together, and starts again together if
 * an executor is lost. Each task runs {@code larder launch}, so nodes behave as they do without Spark.
 *
 * <p>Create the context with {@link SparkSettings#apply}. A launch runs once. Thread-safe.
 */
public final class SparkLaunch {
    private static final long LOOK_MS = 100;
    private static final long BEYOND_GRACE_SECONDS = 30;

    private final JavaSparkContext spark;
    private final LaunchRequest request;
    private final LaunchOutput output;
    private final String name = "larder-" + randomText(4);
    private final String secret;
    private volatile boolean isStopped;

    private SparkLaunch(JavaSparkContext spark, LaunchRequest request, LaunchOutput output) {
        this.spark = spark;
        this.request = request;
        this.output = output;
        this.secret = request.secret().isEmpty() ? randomText(32) : request.secret();
    }

    /**
     * Prepares a launch.
     *
     * @throws dev.larder.error.LarderException USAGE if the context's settings do not allow it
     */
    public static SparkLaunch of(JavaSparkContext spark, LaunchRequest request, LaunchOutput output) {
        SparkSettings.require(spark.getConf(), request.maxRestarts());
        return new SparkLaunch(spark, request, output);
    }

    static String randomText(int length) {
        byte[] bytes = new byte[length];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /** Ends the ranks of all nodes; {@link #run} returns when they have ended. */
    public void stop() {
        isStopped = true;
    }

    /** Runs the ranks, and waits for their end. */
    public LaunchEnd run() {
        LinesPlugin.take(name, output);
        try {
            int restarts = 0;
            Gang gang;
            do {
                int nodes = awaitExecutors();
                gang = new Gang(nodes, restarts);
                restarts += gang.run();
            } while (gang.end == null);
            return gang.end;
        } catch (LarderException e) {
            return new LaunchEnd(e.rawCode(), String.valueOf(e.getMessage()));
        } finally {
            LinesPlugin.forget(name);
        }
    }

    /** Waits for executors; returns the number of nodes to start. */
    private int awaitExecutors() {
        Deadline fewest = Deadline.after(request.meeting());
        @Nullable Deadline more = null;
        while (true) {
            int slots = slots();
            if (slots >= request.maxNodes() || (more != null && more.isOver() && slots >= request.minNodes())) {
                return Math.min(slots, request.maxNodes());
            }
            if (slots >= request.minNodes() && more == null) {
                more = Deadline.after(request.join());
            }
            if (isStopped) {
                throw Failure.of(ErrorCode.INTERRUPTED, "stopped while waiting for executors")
                        .exception();
            }
            if (fewest.isOver() && slots < request.minNodes()) {
                throw tooFew(slots, "");
            }
            pause();
        }
    }

    private LarderException tooFew(int slots, String loss) {
        return Failure.of(ErrorCode.DEADLINE, "too few executors started in time")
                .with("executors", slots)
                .with("min", request.minNodes())
                .with("waited", request.meeting().toSeconds() + "s")
                .with("master", spark.master())
                .with("last", loss.isEmpty() ? "none was lost" : loss)
                .remedy(
                        "check Spark's web page, or request fewer cores per node (--conf spark.executor.cores=N) or fewer nodes");
    }

    /** Returns the number of nodes that Spark could start now. */
    private int slots() {
        return spark.sc()
                .maxNumConcurrentTasks(spark.sc().resourceProfileManager().defaultResourceProfile());
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(LOOK_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "a launch was interrupted").exception();
        }
    }

    /** One Spark job. Spark starts its tasks again by itself as long as there are enough executors. */
    private final class Gang {
        private final int nodes;
        private final int restarts;
        private final String group;
        private final GangWatch watch;
        private final CollectionAccumulator<NodeEnd> ends;
        private @Nullable LaunchEnd end;

        private Gang(int nodes, int restarts) {
            this.nodes = nodes;
            this.restarts = restarts;
            this.group = name + "." + restarts;
            this.watch = new GangWatch(group);
            this.ends = spark.sc().collectionAccumulator(group);
        }

        /** Runs the job; sets no {@link #end} if a gang with fewer nodes has to follow. Returns the number of its starts. */
        private int run() {
            spark.sc().addSparkListener(watch);
            try {
                CompletableFuture<@Nullable Void> job = CompletableFuture.runAsync(this::submit, this::inThread);
                String cause = follow(job);
                end = cause.isEmpty() ? null : judge(cause);
                // the last start had no executors, so it does not count
                return end == null ? watch.attempts() - 1 : watch.attempts();
            } finally {
                spark.sc().removeSparkListener(watch);
            }
        }

        private void inThread(Runnable work) {
            Thread thread = new Thread(work, "larder-gang");
            thread.setDaemon(true);
            thread.start();
        }

        private void submit() {
            spark.setJobGroup(group, "larder launch: " + request.command().get(0), false);
            ClassTag<NodeEnd> tag = ClassTag$.MODULE$.apply(NodeEnd.class);
            List<Integer> numbers = Collections.nCopies(nodes, 0);
            RDD<NodeEnd> tasks = spark.parallelize(numbers, nodes)
                    .rdd()
                    .barrier()
                    .mapPartitions(new NodeTask(plan(), ends), false, tag);
            // Spark does not start the last stage of a job again if a task of a gang fails, so another stage follows.
            Object unused = JavaRDD.fromRDD(tasks, tag).repartition(1).count();
        }

        private GangPlan plan() {
            return new GangPlan(
                    name,
                    nodes,
                    request.maxRestarts(),
                    restarts,
                    new ArrayList<>(request.options()),
                    new ArrayList<>(request.command()),
                    request.program(),
                    request.store(),
                    request.folder(),
                    secret,
                    request.grace().toMillis());
        }

        /** Waits for the end of the job; returns its cause, or an empty text if a gang with fewer nodes has to follow. */
        private String follow(CompletableFuture<@Nullable Void> job) {
            Deadline straggling = Deadline.none();
            while (true) {
                try {
                    job.get(LOOK_MS, TimeUnit.MILLISECONDS);
                    return "done";
                } catch (TimeoutException goesOn) {
                    String cause = causeToEnd();
                    boolean hasFailed = ended().stream().anyMatch(other -> other.exitCode() != 0);
                    if ((hasFailed || complete() >= 0) && straggling == Deadline.none()) {
                        straggling = Deadline.after(request.grace().plusSeconds(BEYOND_GRACE_SECONDS));
                    }
                    if (cause != null || straggling.isOver()) {
                        spark.sc().cancelJobGroup(group, isStopped ? GangPlan.STOPPED : "the launch is over");
                        boolean unused = watch.awaitNone(request.grace().plusSeconds(BEYOND_GRACE_SECONDS));
                        return cause == null ? "one node has ended, but others have not" : cause;
                    }
                } catch (ExecutionException e) {
                    boolean unused = watch.awaitNone(request.grace().plusSeconds(BEYOND_GRACE_SECONDS));
                    return "lost";
                } catch (InterruptedException e) {
                    stop();
                }
            }
        }

        /** Returns the cause to cancel the job, an empty text if another job has to follow, or null if it continues. */
        private @Nullable String causeToEnd() {
            if (isStopped) {
                return "stopped";
            }
            int complete = complete();
            if (complete >= 0 && complete < watch.attempts() - 1) {
                return "done"; // Spark lost the executors before it had collected the results; nothing may run twice
            }
            if (restarts + watch.attempts() > request.maxRestarts() + 1) {
                return "lost";
            }
            if (watch.attempts() > 1 && nodes > request.minNodes() && watch.waitsLongerThan(request.join())) {
                return slots() < nodes && slots() >= request.minNodes() ? "" : null;
            }
            return watch.waitsLongerThan(request.meeting()) ? "waits" : null;
        }

        /** Returns the number of the start that has ended on every node, or -1 if there is none. */
        private int complete() {
            Map<Integer, Long> counts = List.copyOf(ends.value()).stream()
                    .collect(Collectors.groupingBy(NodeEnd::attempt, Collectors.counting()));
            return counts.entrySet().stream()
                    .filter(entry -> entry.getValue() == nodes)
                    .mapToInt(Map.Entry::getKey)
                    .min()
                    .orElse(-1);
        }

        /** Returns the ends of the complete start, even if Spark has started the gang again; else those of the last start. */
        private List<NodeEnd> ended() {
            int complete = complete();
            int last = complete >= 0 ? complete : watch.attempts() - 1;
            return List.copyOf(ends.value()).stream()
                    .filter(other -> other.attempt() == last)
                    .toList();
        }

        private LaunchEnd judge(String cause) {
            List<NodeEnd> last = ended();
            @Nullable
            NodeEnd bad = last.stream()
                    .filter(other -> other.exitCode() != 0)
                    .min(Comparator.comparingInt(NodeEnd::node))
                    .orElse(null);
            if (cause.equals("stopped")) {
                return new LaunchEnd(ErrorCode.INTERRUPTED.number(), "the launch was stopped");
            }
            if (bad != null) {
                // node 0 has printed its message
                return new LaunchEnd(bad.exitCode(), bad.node() == 0 ? "" : bad.message());
            }
            if (last.size() == nodes) {
                return new LaunchEnd(0, "");
            }
            if (cause.equals("waits")) {
                LarderException few = tooFew(slots(), watch.lastLoss());
                return new LaunchEnd(few.rawCode(), String.valueOf(few.getMessage()));
            }
            LarderException lost = Failure.of(ErrorCode.DEADLINE, "nodes were lost, and no restarts are left")
                    .with("attempts", restarts + watch.attempts())
                    .with("last", watch.lastLoss())
                    .remedy("find out why executors end, or raise --max-restarts");
            return new LaunchEnd(lost.rawCode(), String.valueOf(lost.getMessage()));
        }
    }
}
