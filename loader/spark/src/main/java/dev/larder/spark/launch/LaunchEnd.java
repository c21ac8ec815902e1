package dev.larder.spark.launch;

/**
 * How a launch ended.
 *
 * @param exitCode 0 where all ranks did what they should; that of the rank that failed first; else the number of an {@link
 *     dev.larder.error.ErrorCode}, or 128 and the number of the signal that stopped the launch
 * @param message what went wrong beyond what the ranks' output says; empty where nothing did
 */
public record LaunchEnd(int exitCode, String message) {}
