package dev.larder.spark.launch;

import java.io.Serializable;

/**
 * How the launcher of one node ended by its own word.
 *
 * @param node its place in the gang
 * @param attempt which start of the gang this was, from 0
 * @param exitCode as {@code larder launch} has it
 * @param message what it said last on standard error; empty where all went well
 */
record NodeEnd(int node, int attempt, String host, int exitCode, String message) implements Serializable {
    private static final long serialVersionUID = 1;
}
