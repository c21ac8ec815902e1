package dev.larder.cluster;

/**
 * How a run on several nodes ended for one of them.
 *
 * @param exitCode 0 where all ranks of all nodes did what they should; that of the rank that failed first; else the number of an
 *     {@link dev.larder.error.ErrorCode}, or 128 and the number of the signal that stopped the run
 * @param message what went wrong, in one line or several; empty where nothing did
 */
public record NodeResult(int exitCode, String message) {}
