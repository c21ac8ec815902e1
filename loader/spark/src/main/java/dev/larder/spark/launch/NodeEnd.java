package dev.larder.spark.launch;

import java.io.Serializable;

/**
 * The end of one node's launcher that was not cut short.
 *
 * @param node its number in the gang
 * @param attempt the number of this start of the gang, from 0
 * @param exitCode the exit code of {@code larder launch}
 * @param message its last lines on standard error; empty if it succeeded
 */
record NodeEnd(int node, int attempt, String host, int exitCode, String message) implements Serializable {
    private static final long serialVersionUID = 1;
}
