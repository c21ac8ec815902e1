package dev.larder.spark.launch;

/** Receives the output of node 0, which contains the lines of all ranks, each with the name of its rank. Called by one thread. */
@FunctionalInterface
public interface LaunchOutput {
    /** Receives a line of standard output, or of standard error. */
    void line(String text, boolean isError);
}
