package dev.larder.spark.launch;

/** Takes what the node that leads a launch says, which has the lines of all ranks, by name. Lines come from one thread. */
@FunctionalInterface
public interface LaunchOutput {
    /** Takes a line of standard output, or of standard error. */
    void line(String text, boolean isError);
}
