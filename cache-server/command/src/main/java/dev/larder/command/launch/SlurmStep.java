package dev.larder.command.launch;

import dev.larder.distributed.internal.meeting.Endpoint;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The variables of Slurm for a task of a step with one task on each node.
 *
 * @param nodes the number of nodes of the step
 * @param nodeRank the number of this node
 * @param firstHost the name of the first node, which leads
 * @param runName differs for every step, and for every time that the job is queued again
 * @param port that other steps are unlikely to use
 */
record SlurmStep(int nodes, int nodeRank, String firstHost, String runName, int port) {
    private static final int FIRST_PORT = 20_000;
    private static final int PORTS = 10_000;

    /** The first name of a list such as {@code gpu[007-010,12],login1}. */
    private static final Pattern FIRST =
            Pattern.compile("(?<prefix>[^\\[,]+)(\\[(?<number>\\d+)[^\\]]*\\](?<suffix>[^,\\[]*))?.*");

    /** Reads the variables of {@code srun} for its tasks. */
    static SlurmStep of(Map<String, String> environment) {
        int nodes = number(environment, "SLURM_STEP_NUM_NODES");
        int nodeRank = number(environment, "SLURM_NODEID");
        int job = number(environment, "SLURM_JOB_ID");
        int step = number(environment, "SLURM_STEP_ID");
        int tasks = number(environment, "SLURM_STEP_NUM_TASKS");
        if (tasks != nodes) {
            throw Failure.of(ErrorCode.USAGE, "a step needs one launcher on each node")
                    .with("SLURM_STEP_NUM_TASKS", tasks)
                    .with("SLURM_STEP_NUM_NODES", nodes)
                    .remedy("srun --ntasks-per-node=1; -n is the number of ranks that each of them starts");
        }
        String restarts = environment.getOrDefault("SLURM_RESTART_COUNT", "0");
        return new SlurmStep(
                nodes,
                nodeRank,
                firstHost(text(environment, "SLURM_STEP_NODELIST")),
                "slurm-" + job + "." + step + "." + restarts,
                FIRST_PORT + Math.floorMod(31 * job + step, PORTS));
    }

    /** Returns the default place of the meeting. */
    Endpoint endpoint() {
        return new Endpoint(firstHost, port);
    }

    static String firstHost(String list) {
        Matcher matcher = FIRST.matcher(list);
        if (!matcher.matches()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot read Slurm's list of nodes")
                    .with("SLURM_STEP_NODELIST", list)
                    .remedy("name the first node: --rdzv-endpoint HOST:PORT");
        }
        String number = matcher.group("number");
        return number == null ? matcher.group("prefix") : matcher.group("prefix") + number + matcher.group("suffix");
    }

    private static String text(Map<String, String> environment, String name) {
        String text = environment.getOrDefault(name, "");
        if (text.isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "this is no step of a Slurm job")
                    .with("missing", name)
                    .remedy("start it by srun --ntasks-per-node=1, or give --nnodes and --rdzv-endpoint");
        }
        return text;
    }

    private static int number(Map<String, String> environment, String name) {
        String text = text(environment, name);
        if (!text.matches("\\d{1,9}")) {
            throw Failure.of(ErrorCode.BAD_INPUT, "a variable of Slurm is not a number")
                    .with(name, text)
                    .remedy("give --nnodes, --node-rank and --rdzv-endpoint instead");
        }
        return Integer.parseInt(text);
    }
}
