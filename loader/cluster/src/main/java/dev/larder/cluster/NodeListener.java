package dev.larder.cluster;

import dev.larder.launch.process.LaunchListener;
import dev.larder.launch.process.NodePlace;
import dev.larder.launch.process.OutputLine;
import java.util.List;

/** Receives the events of a run on several nodes, from different threads. */
public interface NodeListener {
    /** Reports an event to the user, in one line or several. */
    default void said(String text) {}

    /** The ranks of this node start, at this place. */
    default void roundStarts(NodePlace place) {}

    /** A rank of another node wrote lines to one of its streams; called if this node leads. */
    default void linesOf(String node, int rank, List<OutputLine> lines) {}

    /** Returns the listener for the ranks of this node, which have their local numbers there. */
    default LaunchListener ranks() {
        return new LaunchListener() {};
    }
}
