package dev.larder.cluster;

/**
 * The result of a run on several nodes for one of them.
 *
 * @param exitCode 0 if all ranks of all nodes succeeded; that of the rank that failed first; else the number of an {@link
 *     dev.larder.error.ErrorCode}, or 128 plus the number of the signal that stopped the run
 * @param message the reason of a failure, in one line or several; else empty
 */
public record NodeResult(int exitCode, String message) {}
