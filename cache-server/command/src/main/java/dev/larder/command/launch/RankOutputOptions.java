package dev.larder.command.launch;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options for the output of ranks. */
public final class RankOutputOptions {
    private static final int BOTH = 3;

    @Spec(Spec.Target.MIXEE)
    CommandSpec spec;

    @Option(
            names = {"--log-dir", "--log_dir"},
            paramLabel = "DIR",
            description = "Also keep the output of each rank in files, in a new folder below DIR.")
    @Nullable
    Path logFolder;

    @Option(
            names = {"-r", "--redirects"},
            paramLabel = "S",
            description = "With --log-dir: the streams for files only. 0: none, 1: standard output, 2: standard"
                    + " error, 3: both; or by rank, 0:3,1:1.")
    @Nullable
    String redirects;

    @Option(
            names = {"-t", "--tee"},
            paramLabel = "S",
            description =
                    "With --log-dir: the streams that go to files and are also shown, in the form of --redirects.")
    @Nullable
    String tee;

    @Option(
            names = {"--local-ranks-filter", "--local_ranks_filter"},
            paramLabel = "RANK",
            split = ",",
            description = "Show the output of these ranks only.")
    int @Nullable [] shownRanks;

    @Option(names = "--no-prefix", description = "Show lines as they are, without their rank.")
    boolean noPrefix;

    @Option(
            names = {"-q", "--quiet"},
            description = "Print no messages of the launch itself, except why it failed.")
    boolean quiet;

    /**
     * The destinations of the output.
     *
     * @param logFolder of the files; null for no files
     * @param kept for each rank the streams in files: 1 standard output, 2 standard error, 3 both
     * @param hidden for each rank the streams that are not shown
     */
    public record Choice(
            @Nullable Path logFolder, StreamMap kept, StreamMap hidden, boolean hasPrefix, boolean isQuiet) {}

    /** Streams by rank. */
    public record StreamMap(List<Integer> streams) {
        /** Returns whether the standard output or the standard error of a rank is one of them. */
        public boolean has(int rank, boolean isError) {
            return (streams.get(rank) & (isError ? 2 : 1)) != 0;
        }
    }

    /** Returns the destinations for a number of ranks. */
    public Choice choice(int worldSize) {
        if (logFolder == null && (redirects != null || tee != null)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--redirects and --tee need --log-dir: add --log-dir DIR, a folder for the files");
        }
        int[] only = streams("--redirects", redirects, worldSize);
        int[] both = streams("--tee", tee, worldSize);
        BitSet shown = shown(worldSize);
        boolean isUnsaid = redirects == null && tee == null;
        List<Integer> kept = new ArrayList<>();
        List<Integer> hidden = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            kept.add(isUnsaid ? BOTH : only[rank] | both[rank]);
            hidden.add(shown.get(rank) ? only[rank] & ~both[rank] : BOTH);
        }
        return new Choice(logFolder, new StreamMap(kept), new StreamMap(hidden), !noPrefix, quiet);
    }

    private BitSet shown(int worldSize) {
        BitSet shown = new BitSet();
        if (shownRanks == null) {
            shown.set(0, worldSize);
            return shown;
        }
        for (int rank : shownRanks) {
            if (rank < 0 || rank >= worldSize) {
                throw new ParameterException(spec.commandLine(), "no such rank: " + rank + " of " + worldSize);
            }
            shown.set(rank);
        }
        return shown;
    }

    private int[] streams(String option, @Nullable String text, int worldSize) {
        int[] streams = new int[worldSize];
        if (text == null) {
            return streams;
        }
        if (text.matches("[0-3]")) {
            Arrays.fill(streams, Integer.parseInt(text));
            return streams;
        }
        for (String pair : text.split(",", -1)) {
            if (!pair.matches("\\d{1,6}:[0-3]")) {
                throw new ParameterException(
                        spec.commandLine(), option + " is 0, 1, 2, 3 or RANK:STREAMS,..., not '" + text + "'");
            }
            int colon = pair.indexOf(':');
            int rank = Integer.parseInt(pair.substring(0, colon));
            if (rank < worldSize) {
                streams[rank] = Integer.parseInt(pair.substring(colon + 1));
            }
        }
        return streams;
    }
}
