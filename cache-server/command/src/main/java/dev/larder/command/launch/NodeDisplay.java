package dev.larder.command.launch;

import dev.larder.cluster.NodeListener;
import dev.larder.launch.process.LaunchListener;
import dev.larder.launch.process.NodePlace;
import dev.larder.launch.process.OutputLine;
import dev.larder.launch.process.RankResult;
import java.util.List;

/** Shows the events of a run on several machines, and the lines of ranks; those of other machines with its name. */
public final class NodeDisplay implements NodeListener {
    private final RankDisplay display;
    private final int ranksPerNode;

    /** Shows through the display of the ranks of this machine. */
    public NodeDisplay(RankDisplay display, int ranksPerNode) {
        this.display = display;
        this.ranksPerNode = ranksPerNode;
    }

    @Override
    public void said(String text) {
        if (!display.isQuiet()) {
            tell(text);
        }
    }

    /** Prints a message, also with {@code --quiet} */
    public void tell(String text) {
        text.lines().forEach(display::say);
    }

    @Override
    public void roundStarts(NodePlace place) {
        display.firstRank(place.firstRank());
    }

    @Override
    public void linesOf(String node, int rank, List<OutputLine> lines) {
        display.show(rank % ranksPerNode, rank + "@" + node, lines);
    }

    @Override
    public LaunchListener ranks() {
        return new LaunchListener() {
            @Override
            public void attemptStarts(int attempt, int masterPort) {
                display.attemptStarts(attempt, masterPort);
            }

            @Override
            public void lines(int rank, List<OutputLine> lines) {
                display.lines(rank, lines);
            }

            @Override
            public void rankEnded(int attempt, RankResult end) {
                display.sayTrouble(end);
            }

            @Override
            public RankLogs logs(int attempt, int rank) {
                return display.logs(attempt, rank);
            }
        };
    }
}
