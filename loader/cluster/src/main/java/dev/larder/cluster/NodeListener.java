package dev.larder.cluster;

import dev.larder.launch.process.LaunchListener;
import dev.larder.launch.process.NodePlace;
import dev.larder.launch.process.OutputLine;
import java.util.List;

/** Hears how a run on several nodes goes. Calls come from different threads. */
public interface NodeListener {
    /** Something happened that people want to know; one line, or several. */
    default void said(String text) {}

    /** This node's ranks start, at this place among all. */
    default void roundStarts(NodePlace place) {}

    /** A rank of another node wrote lines to one of its streams; called if this node leads. */
    default void linesOf(String node, int rank, List<OutputLine> lines) {}

    /** Returns what hears of the ranks of this node, by their local ranks. */
    default LaunchListener ranks() {
        return new LaunchListener() {};
    }
}
