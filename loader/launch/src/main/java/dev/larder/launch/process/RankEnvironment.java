package dev.larder.launch.process;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The environment of ranks: the variables of {@code torchrun}, and those that name the run and the attempt for
 * {@code dev.larder.distributed.rendezvous.Rendezvous}.
 *
 * @param plan of the launch
 * @param place the place of this machine's ranks among all
 */
record RankEnvironment(LaunchPlan plan, NodePlace place) {
    private static final String ASYNC_ERRORS = "TORCH_NCCL_ASYNC_ERROR_HANDLING";

    static final String MASTER_ADDRESS = "127.0.0.1";

    /** Returns the environment of an attempt on one machine. */
    static RankEnvironment onOneMachine(LaunchPlan plan, String runId, int attempt, int masterPort) {
        return new RankEnvironment(
                plan, new NodePlace(0, 1, 0, plan.worldSize(), MASTER_ADDRESS, masterPort, attempt, attempt, runId));
    }

    int attempt() {
        return place.round();
    }

    /**
     * Returns the changes of this process's environment for a rank of this machine; null removes a variable.
     *
     * @param errorFile where PyTorch's {@code @record} may write an error
     */
    Map<String, @Nullable String> changes(int localRank, @Nullable Path errorFile) {
        Map<String, @Nullable String> changes = new HashMap<>(plan.environment());
        changes.putAll(CoreShare.among(plan.worldSize()).variables(withOwn(plan.environment())));
        String worldSize = Integer.toString(place.worldSize());
        String rank = Integer.toString(place.firstRank() + localRank);
        changes.put("WORLD_SIZE", worldSize);
        changes.put("ROLE_WORLD_SIZE", worldSize);
        changes.put("LOCAL_WORLD_SIZE", Integer.toString(plan.worldSize()));
        changes.put("RANK", rank);
        changes.put("ROLE_RANK", rank);
        changes.put("LOCAL_RANK", Integer.toString(localRank));
        changes.putIfAbsent("ROLE_NAME", "default");
        changes.put("GROUP_RANK", Integer.toString(place.node()));
        changes.put("GROUP_WORLD_SIZE", Integer.toString(place.nodes()));
        changes.put("MASTER_ADDR", place.masterAddress());
        changes.put("MASTER_PORT", Integer.toString(place.masterPort()));
        changes.put("TORCHELASTIC_RESTART_COUNT", Integer.toString(plan.earlierRestarts() + place.restarts()));
        changes.put("TORCHELASTIC_MAX_RESTARTS", Integer.toString(plan.earlierRestarts() + plan.maxRestarts()));
        changes.putIfAbsent("TORCHELASTIC_RUN_ID", "none");
        // Rank 0 is the first that listens at the port: no agent has a store there.
        changes.put("TORCHELASTIC_USE_AGENT_STORE", "False");
        changes.put("TORCHELASTIC_ERROR_FILE", errorFile == null ? null : errorFile.toString());
        changes.putIfAbsent("TORCHELASTIC_SIGNALS_TO_HANDLE", "SIGTERM,SIGINT,SIGHUP,SIGQUIT");
        String errors = withOwn(plan.environment()).get(ASYNC_ERRORS);
        changes.put(ASYNC_ERRORS, errors == null ? "1" : errors);
        changes.put("LARDER_RUN_ID", place.runId());
        changes.put("LARDER_ATTEMPT", Integer.toString(place.round()));
        return changes;
    }

    /** Returns this process's environment, changed. */
    static Map<String, @Nullable String> withOwn(Map<String, @Nullable String> changes) {
        Map<String, @Nullable String> environment = new HashMap<>(System.getenv());
        environment.putAll(changes);
        return environment;
    }
}
