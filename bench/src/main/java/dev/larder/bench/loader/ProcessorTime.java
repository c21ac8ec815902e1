package dev.larder.bench.loader;

import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Counts the processor time of the whole JVM in an iteration: on a busy machine it is steadier than the clock. */
@State(Scope.Thread)
@AuxCounters(AuxCounters.Type.EVENTS)
public class ProcessorTime {
    /** Batches that were read. */
    public long batches;

    private long startNs;

    /** Begins to count. */
    @Setup(Level.Iteration)
    public void start() {
        startNs = ProcessorClock.ns();
    }

    /** Returns the time so far. */
    public double processorUs() {
        return (ProcessorClock.ns() - startNs) / 1e3;
    }
}
