package dev.larder.launch.process;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What ranks find in their environment: what {@code torchrun} says on one machine, and what names the run and the attempt for
 * {@code dev.larder.distributed.rendezvous.Rendezvous}.
 *
 * @param plan what is launched
 * @param runId differs for every launch
 * @param attempt counts from 0
 * @param masterPort where rank 0 may listen
 */
record RankEnvironment(LaunchPlan plan, String runId, int attempt, int masterPort) {
    static final String MASTER_ADDRESS = "127.0.0.1";

    /** Returns what the environment of a rank has that this process's has not; null removes a variable. */
    Map<String, @Nullable String> changes(int rank) {
        Map<String, @Nullable String> changes = new HashMap<>(plan.environment());
        changes.putAll(CoreShare.among(plan.worldSize()).variables(withOwn(plan.environment())));
        String worldSize = Integer.toString(plan.worldSize());
        for (String name : new String[] {"WORLD_SIZE", "LOCAL_WORLD_SIZE", "ROLE_WORLD_SIZE"}) {
            changes.put(name, worldSize);
        }
        for (String name : new String[] {"RANK", "LOCAL_RANK", "ROLE_RANK"}) {
            changes.put(name, Integer.toString(rank));
        }
        changes.putIfAbsent("ROLE_NAME", "default");
        changes.put("GROUP_RANK", "0");
        changes.put("GROUP_WORLD_SIZE", "1");
        changes.put("MASTER_ADDR", MASTER_ADDRESS);
        changes.put("MASTER_PORT", Integer.toString(masterPort));
        changes.put("TORCHELASTIC_RESTART_COUNT", Integer.toString(attempt));
        changes.put("TORCHELASTIC_MAX_RESTARTS", Integer.toString(plan.maxRestarts()));
        changes.putIfAbsent("TORCHELASTIC_RUN_ID", "none");
        // Nobody listens at the port until rank 0 does: no agent has a store there, and no file waits for an error.
        changes.put("TORCHELASTIC_USE_AGENT_STORE", "False");
        changes.put("TORCHELASTIC_ERROR_FILE", null);
        changes.put("LARDER_RUN_ID", runId);
        changes.put("LARDER_ATTEMPT", Integer.toString(attempt));
        return changes;
    }

    /** Returns this process's environment, changed. */
    static Map<String, @Nullable String> withOwn(Map<String, @Nullable String> changes) {
        Map<String, @Nullable String> environment = new HashMap<>(System.getenv());
        environment.putAll(changes);
        return environment;
    }
}
