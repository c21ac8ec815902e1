package dev.larder.spark.launch;

import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.jspecify.annotations.Nullable;
import scala.jdk.javaapi.CollectionConverters;

/** Counts the running tasks and the starts of one gang, and measures its wait for executors. Thread-safe. */
final class GangWatch extends SparkListener {
    private final String group;
    private final Set<Integer> stages = new HashSet<>();
    private final Map<Long, Integer> running = new HashMap<>();
    private int gangStage = Integer.MAX_VALUE;
    private int attempts;
    private long waitsSinceNanos;
    private boolean waits;
    private @Nullable String lastLoss;

    /** Watches the gang with this job group. */
    GangWatch(String group) {
        this.group = group;
    }

    @Override
    public synchronized void onJobStart(SparkListenerJobStart start) {
        if (start.properties() == null || !group.equals(start.properties().getProperty("spark.jobGroup.id"))) {
            return;
        }
        for (StageInfo stage : CollectionConverters.asJava(start.stageInfos())) {
            stages.add(stage.stageId());
            gangStage = Math.min(gangStage, stage.stageId()); // the other stage only collects the results
        }
    }

    @Override
    public synchronized void onStageSubmitted(SparkListenerStageSubmitted submitted) {
        if (submitted.stageInfo().stageId() == gangStage) {
            attempts = submitted.stageInfo().attemptNumber() + 1;
            waits = true;
            waitsSinceNanos = System.nanoTime();
        }
    }

    @Override
    public synchronized void onTaskStart(SparkListenerTaskStart start) {
        if (start.stageId() == gangStage) {
            waits = false;
            running.put(start.taskInfo().taskId(), start.stageAttemptId());
        }
    }

    @Override
    public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
        if (end.stageId() == gangStage) {
            running.remove(end.taskInfo().taskId());
            notifyAll();
        }
    }

    @Override
    public synchronized void onStageCompleted(SparkListenerStageCompleted completed) {
        if (completed.stageInfo().stageId() == gangStage
                && completed.stageInfo().failureReason().isDefined()) {
            lastLoss = completed
                    .stageInfo()
                    .failureReason()
                    .get()
                    .lines()
                    .findFirst()
                    .orElse("");
        }
    }

    @Override
    public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
        lastLoss = "executor " + removed.executorId() + " is lost: "
                + removed.reason().strip();
    }

    /** Returns the number of starts of the gang. */
    synchronized int attempts() {
        return attempts;
    }

    /** Returns whether the gang has waited for executors longer than this. */
    synchronized boolean waitsLongerThan(Duration patience) {
        return waits && System.nanoTime() - waitsSinceNanos > patience.toNanos();
    }

    /** Returns the reason of the last restart, or an empty text if there was none. */
    synchronized String lastLoss() {
        return lastLoss == null ? "" : lastLoss;
    }

    /** Returns the number of running tasks, including those that Spark has cancelled. */
    synchronized int running() {
        return running.size();
    }

    /** Waits until no task runs; returns false if the time limit is reached. */
    synchronized boolean awaitNone(Duration patience) {
        Deadline deadline = Deadline.after(patience);
        try {
            while (!running.isEmpty() && !deadline.isOver()) {
                wait(Math.max(1, deadline.remainingMillis()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return running.isEmpty();
    }

    /** Returns the job group, for messages. */
    @Override
    public String toString() {
        return group + List.copyOf(stages);
    }
}
