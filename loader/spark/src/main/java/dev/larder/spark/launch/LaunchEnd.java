package dev.larder.spark.launch;

/**
 * The result of a launch.
 *
 * @param exitCode 0 if all ranks succeeded, or the exit code of the rank that failed first, the number of an {@link
 *     dev.larder.error.ErrorCode}, or 128 plus the number of the signal that stopped the launch
 * @param message a failure that is not in the output of the ranks; empty if there was none
 */
public record LaunchEnd(int exitCode, String message) {}
