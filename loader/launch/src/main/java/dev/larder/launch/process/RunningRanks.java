package dev.larder.launch.process;

/** Running ranks on this machine, or on several. Thread-safe. */
public interface RunningRanks {
    /** Ends all ranks like Ctrl-C: SIGINT, SIGTERM after half the grace, and SIGKILL after the grace. */
    void interrupt();

    /** Ends all ranks by SIGTERM, and by SIGKILL after the grace. */
    void terminate();

    /** Ends all ranks by SIGTERM for a scheduler that has sent SIGHUP: the run may start again elsewhere or later. */
    default void hangUp() {
        terminate();
    }

    /** Sends a signal, named without SIG, to the ranks of this machine; other machines have their own launchers. */
    default void signal(String name) {}

    /** Kills all ranks immediately. */
    void kill();
}
