package dev.larder.cluster;

/**
 * The result of a run on several nodes for one of them.
 *
 * @param exitCode 0 if all ranks succeeded, or the exit code of the rank that failed first, the number of an {@link
 *     dev.larder.error.ErrorCode}, or 128 plus the number of the signal that stopped the run
 * @param message the reason of a failure, in one line or several; else empty
 */
public record NodeResult(int exitCode, String message) {}
