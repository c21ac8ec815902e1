package dev.larder.launch.process;

/** Ranks that run here, or here and on other machines, and can be asked to end. Thread-safe. */
public interface RunningRanks {
    /** Asks all ranks to end as Ctrl-C does (SIGINT), after half the grace by SIGTERM, and kills what is left after it. */
    void interrupt();

    /** Asks all ranks to end by SIGTERM, and kills what is left after the grace. */
    void terminate();

    /** Asks all ranks to end by SIGTERM for whom nobody has stopped the run (SIGHUP): it may start again elsewhere or later. */
    default void hangUp() {
        terminate();
    }

    /** Sends a signal, named without SIG, to the ranks that run on this machine; ranks elsewhere have a launcher of their own. */
    default void signal(String name) {}

    /** Kills all ranks at once. */
    void kill();
}
