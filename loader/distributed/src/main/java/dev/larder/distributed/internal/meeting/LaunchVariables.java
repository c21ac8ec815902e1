package dev.larder.distributed.internal.meeting;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The variables that a launcher sets in the environment of each rank. {@code larder launch} and {@code torchrun} set all of them, others
 * the first four.
 *
 * @param rank RANK
 * @param worldSize WORLD_SIZE
 * @param localRank LOCAL_RANK, or the rank
 * @param localWorldSize LOCAL_WORLD_SIZE, or the world size
 * @param node GROUP_RANK, or the number that follows if all nodes are equal and have ranks in a row
 * @param nodes GROUP_WORLD_SIZE, or the number that follows in the same way
 * @param masterAddress MASTER_ADDR
 * @param masterPort MASTER_PORT
 */
public record LaunchVariables(
        int rank,
        int worldSize,
        int localRank,
        int localWorldSize,
        int node,
        int nodes,
        String masterAddress,
        int masterPort) {

    private static final String LARDER_RUN = "LARDER_RUN_ID";
    private static final String LARDER_ATTEMPT = "LARDER_ATTEMPT";
    private static final String ELASTIC_RUN = "TORCHELASTIC_RUN_ID";
    private static final String ELASTIC_ATTEMPT = "TORCHELASTIC_RESTART_COUNT";
    private static final String ELASTIC_ERROR_FILE = "TORCHELASTIC_ERROR_FILE";
    private static final String AGENT_STORE = "TORCHELASTIC_USE_AGENT_STORE";
    private static final String GROUP_RANK = "GROUP_RANK";
    private static final String GROUP_WORLD_SIZE = "GROUP_WORLD_SIZE";
    private static final String MASTER_ADDRESS = "MASTER_ADDR";
    private static final String MASTER_PORT = "MASTER_PORT";

    /** Reads all variables. One failure names every variable that is missing or wrong. The URL may override two. */
    public static LaunchVariables read(MeetingUrl url, Map<String, String> environment) {
        List<String> wrong = new ArrayList<>();
        int rank = number("RANK", url.rank(), null, environment, wrong);
        int worldSize = number("WORLD_SIZE", url.worldSize(), null, environment, wrong);
        int localRank = number("LOCAL_RANK", null, rank, environment, wrong);
        int localWorldSize = number("LOCAL_WORLD_SIZE", null, worldSize, environment, wrong);
        String address = environment.getOrDefault(MASTER_ADDRESS, "");
        if (address.isBlank()) {
            wrong.add(MASTER_ADDRESS + " is not set");
        }
        int port = number(MASTER_PORT, null, null, environment, wrong);
        if (port == 0 || port > Endpoint.LARGEST_PORT) {
            wrong.add(MASTER_PORT + "=" + port + " is no port");
        }
        requireSense(rank, worldSize, localRank, localWorldSize, wrong);
        boolean isOneNode = localWorldSize == worldSize;
        int equal = wrong.isEmpty() ? equalNodes(rank, worldSize, localRank, localWorldSize, environment, wrong) : 1;
        int nodes = isOneNode ? 1 : number(GROUP_WORLD_SIZE, null, equal, environment, wrong);
        int node = isOneNode ? 0 : number(GROUP_RANK, null, rank / Math.max(1, localWorldSize), environment, wrong);
        if (wrong.isEmpty() && !isOneNode) {
            requireNode(rank - localRank, node, nodes, wrong);
        }
        if (!wrong.isEmpty()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the environment has no rendezvous settings")
                    .with("address", url.text())
                    .with("wrong", String.join(", ", wrong))
                    .remedy("start the ranks with larder launch -n N -- CMD or with torchrun, or set these variables");
        }
        return new LaunchVariables(rank, worldSize, localRank, localWorldSize, node, nodes, address, port);
    }

    /** Returns the number of nodes of equal size; a launcher has to number nodes of different sizes. */
    private static int equalNodes(
            int rank,
            int worldSize,
            int localRank,
            int localWorldSize,
            Map<String, String> environment,
            List<String> wrong) {
        boolean isNumbered = environment.containsKey(GROUP_RANK) && environment.containsKey(GROUP_WORLD_SIZE);
        if (!isNumbered && (worldSize % localWorldSize != 0 || rank % localWorldSize != localRank)) {
            wrong.add(GROUP_RANK + " and " + GROUP_WORLD_SIZE + " are not set, and the nodes differ in size or order");
        }
        return worldSize / localWorldSize;
    }

    private static void requireNode(int firstRank, int node, int nodes, List<String> wrong) {
        if (nodes < 2) {
            wrong.add(GROUP_WORLD_SIZE + "=" + nodes + ", but LOCAL_WORLD_SIZE is not WORLD_SIZE");
        } else if (node >= nodes) {
            wrong.add(GROUP_RANK + "=" + node + " is not below " + GROUP_WORLD_SIZE + "=" + nodes);
        } else if (firstRank < node || (node == 0 && firstRank != 0)) {
            wrong.add(GROUP_RANK + "=" + node + " does not fit RANK less LOCAL_RANK, which is " + firstRank);
        }
    }

    /** Returns the number, or -1 after adding the reason to the list of errors. */
    private static int number(
            String name,
            @Nullable String override,
            @Nullable Integer absent,
            Map<String, String> environment,
            List<String> wrong) {
        String text = override != null ? override : environment.get(name);
        if (text == null && absent != null) {
            return absent;
        }
        if (text == null) {
            wrong.add(name + " is not set");
            return -1;
        }
        Integer number = number(text.strip());
        if (number == null) {
            wrong.add(name + "='" + text + "' is not a number");
            return -1;
        }
        return number;
    }

    private static void requireSense(int rank, int worldSize, int localRank, int localWorldSize, List<String> wrong) {
        if (worldSize == 0 || worldSize > RankSeat.MAX_WORLD_SIZE) {
            wrong.add("WORLD_SIZE=" + worldSize + " is not from 1 to " + RankSeat.MAX_WORLD_SIZE);
        } else if (worldSize > 0 && rank >= worldSize) {
            wrong.add("RANK=" + rank + " is not below WORLD_SIZE=" + worldSize);
        }
        if (localWorldSize == 0 || (worldSize > 0 && localWorldSize > worldSize)) {
            wrong.add("LOCAL_WORLD_SIZE=" + localWorldSize + " is not from 1 to WORLD_SIZE");
        } else if (localWorldSize > 0 && localRank >= localWorldSize) {
            wrong.add("LOCAL_RANK=" + localRank + " is not below LOCAL_WORLD_SIZE=" + localWorldSize);
        }
    }

    /** Parses a number that is not negative; null if the text is none. */
    static @Nullable Integer number(String text) {
        boolean digits = !text.isEmpty() && text.length() <= 9 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        return digits ? Integer.valueOf(text) : null;
    }

    /**
     * Returns a key of this run and attempt, from the variables that all its ranks share; empty if no launcher set any. The default name of
     * a run of {@code torchrun} is "none", and its default port is always the same, so on one node the folder of its error files
     * distinguishes runs.
     */
    static String job(Map<String, String> environment) {
        boolean ours = environment.containsKey(LARDER_RUN) && environment.containsKey(LARDER_ATTEMPT);
        boolean elastic = environment.containsKey(ELASTIC_RUN) && environment.containsKey(ELASTIC_ATTEMPT);
        if (!ours && !elastic) {
            return "";
        }
        List<String> shared = new ArrayList<>();
        for (String name : List.of(
                LARDER_RUN, LARDER_ATTEMPT, ELASTIC_RUN, ELASTIC_ATTEMPT, "WORLD_SIZE", MASTER_ADDRESS, MASTER_PORT)) {
            shared.add(environment.getOrDefault(name, ""));
        }
        boolean isOneNode = environment
                .getOrDefault("LOCAL_WORLD_SIZE", "")
                .strip()
                .equals(environment.getOrDefault("WORLD_SIZE", "").strip());
        if (isOneNode || !environment.containsKey("LOCAL_WORLD_SIZE")) { // each node has a folder of its own
            shared.add(runFolder(environment.getOrDefault(ELASTIC_ERROR_FILE, "")));
        }
        return Keys.text(Keys.digest(shared));
    }

    /** Returns the port at which the leaders of nodes meet: the next one if torchrun's agent uses MASTER_PORT for a store. */
    int leadersPort(Map<String, String> environment) {
        boolean isTaken =
                Boolean.parseBoolean(environment.getOrDefault(AGENT_STORE, "").strip());
        return isTaken ? (masterPort == Endpoint.LARGEST_PORT ? masterPort - 1 : masterPort + 1) : masterPort;
    }

    /** Returns the address of rank 0. */
    Endpoint master() {
        return new Endpoint(masterAddress, masterPort);
    }

    /** Cuts {@code /attempt_0/1/error.json} off: the rest is a folder that all ranks of a run share, and no other run has. */
    private static String runFolder(String errorFile) {
        int attempt = errorFile.lastIndexOf("/attempt_");
        return attempt < 0 ? "" : errorFile.substring(0, attempt);
    }
}
