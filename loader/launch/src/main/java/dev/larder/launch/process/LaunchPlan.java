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
 * What to launch: one program, as many times as there are ranks.
 *
 * @param words the program and its arguments
 * @param worldSize how many ranks on this machine
 * @param maxRestarts how often all ranks are started again after one has failed
 * @param masterPort MASTER_PORT of the ranks; 0 for a free one, another for each attempt
 * @param environment what else differs from this process's environment; null removes a variable
 * @param isInputForRankZero whether rank 0 reads what this process would; all others read nothing
 * @param grace how long ranks may take to end when they are asked to, before they are killed
 * @param node which of several machines this one is, for one attempt; null where there is but one machine
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

    /** Copies what it is given; fails where it makes no sense. */
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

    /** Changes how often all ranks are started again. */
    public LaunchPlan withMaxRestarts(int restarts) {
        return new LaunchPlan(
                words, worldSize, restarts, masterPort, environment, isInputForRankZero, grace, node, earlierRestarts);
    }

    /** Changes what else differs from this process's environment. */
    public LaunchPlan withEnvironment(Map<String, @Nullable String> changes) {
        return new LaunchPlan(
                words, worldSize, maxRestarts, masterPort, changes, isInputForRankZero, grace, node, earlierRestarts);
    }

    /** Changes how long ranks may take to end. */
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

    /** Lets rank 0 read what this process would. */
    public LaunchPlan withInputForRankZero() {
        return new LaunchPlan(
                words, worldSize, maxRestarts, masterPort, environment, true, grace, node, earlierRestarts);
    }

    /** Makes this machine one of several; all ranks then run once, as whoever counts attempts is elsewhere. */
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
