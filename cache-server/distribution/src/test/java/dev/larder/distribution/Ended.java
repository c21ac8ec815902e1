package dev.larder.distribution;

/**
 * What a process left behind.
 *
 * @param code its exit code
 * @param out what it wrote to standard output
 * @param err what it wrote to standard error
 */
record Ended(int code, String out, String err) {}
