package dev.larder.launch.process;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A launch: one program, started once for each rank.
 *
 * @param words the program and its arguments
 * @param worldSize the number of ranks on this machine
 * @param maxRestarts the number of restarts of all ranks after one has failed
 * @param masterPort MASTER_PORT of the ranks; 0 for a free one, another for each attempt
 * @param environment other changes of this process's environment; null removes a variable
 * @param isInputForRankZero whether rank 0 has this process's standard input; that of all others is empty
 * @param grace the time between the request to end and the kill
 * @param node the place of this machine among several, for one attempt; null if there is only one machine
 * @param earlierRestarts the number of times that an engine has started the whole launch again
 */
public record LaunchPlan(
        List<String> words,
        int worldSize,
        int maxRestarts,
        int masterPort,
        Map<String, @Nullable String> environment,
        boolean isInputForRankZero,
        Duration grace,
        @Nullable NodePlace node,
        int earlierRestarts) {

    /** More than any machine runs at a time. */
    public static final int MAX_WORLD_SIZE = 4096;

    private static final Duration USUAL_GRACE = Duration.ofSeconds(10);
    private static final int LARGEST_PORT = 65535;

    /** Copies the collections; fails if the values are inconsistent. */
    public LaunchPlan {
        words = List.copyOf(words);
        environment = Collections.unmodifiableMap(new HashMap<>(environment));
        if (words.isEmpty()) {
            throw new IllegalArgumentException("a program needs a name");
        }
        if (worldSize < 1 || worldSize > MAX_WORLD_SIZE) {
            throw Failure.of(ErrorCode.USAGE, "bad number of ranks")
                    .with("ranks", worldSize)
                    .remedy("launch from 1 to " + MAX_WORLD_SIZE + " ranks");
        }
        if (maxRestarts < 0) {
            throw Failure.of(ErrorCode.USAGE, "bad number of restarts")
                    .with("restarts", maxRestarts)
                    .remedy("give 0 or more");
        }
        if (masterPort < 0 || masterPort > LARGEST_PORT) {
            throw Failure.of(ErrorCode.USAGE, "bad port")
                    .with("port", masterPort)
                    .remedy("give 1 to " + LARGEST_PORT + ", or 0 for a free one");
        }
        if (grace.isNegative()) {
            throw new IllegalArgumentException("grace is below zero: " + grace);
        }
    }

    /** Plans ranks that are started once, with a free port and a grace of 10 s. */
    public static LaunchPlan of(int worldSize, List<String> words) {
        return new LaunchPlan(words, worldSize, 0, 0, Map.of(), false, USUAL_GRACE, null, 0);
    }

    /** Changes the number of restarts. */
    public LaunchPlan withMaxRestarts(int restarts) {
        return new LaunchPlan(
                words, worldSize, restarts, masterPort, environment, isInputForRankZero, grace, node, earlierRestarts);
    }

    /** Changes the other changes of the environment. */
    public LaunchPlan withEnvironment(Map<String, @Nullable String> changes) {
        return new LaunchPlan(
                words, worldSize, maxRestarts, masterPort, changes, isInputForRankZero, grace, node, earlierRestarts);
    }

    /** Changes the grace. */
    public LaunchPlan withGrace(Duration newGrace) {
        return new LaunchPlan(
                words,
                worldSize,
                maxRestarts,
                masterPort,
                environment,
                isInputForRankZero,
                newGrace,
                node,
                earlierRestarts);
    }

    /** Changes the port. */
    public LaunchPlan withMasterPort(int port) {
        return new LaunchPlan(
                words, worldSize, maxRestarts, port, environment, isInputForRankZero, grace, node, earlierRestarts);
    }

    /** Gives rank 0 this process's standard input. */
    public LaunchPlan withInputForRankZero() {
        return new LaunchPlan(
                words, worldSize, maxRestarts, masterPort, environment, true, grace, node, earlierRestarts);
    }

    /** Makes this machine one of several; all ranks then run once, because the leader of the nodes counts attempts. */
    public LaunchPlan withNode(NodePlace place) {
        return new LaunchPlan(
                words,
                worldSize,
                maxRestarts,
                masterPort,
                environment,
                isInputForRankZero,
                grace,
                place,
                earlierRestarts);
    }

    /** Sets the number of restarts that ranks count before those of this launch. */
    public LaunchPlan withEarlierRestarts(int restarts) {
        return new LaunchPlan(
                words, worldSize, maxRestarts, masterPort, environment, isInputForRankZero, grace, node, restarts);
    }
}
