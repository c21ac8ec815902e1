package dev.larder.internal.protocol;

/**
 * Tells a client that it is its turn to build a dataset.
 *
 * @param token names the build in {@link PublishRequest}
 * @param folder where the client writes {@code .npy} files, one an array, levels of names as folders
 */
public record Build(long token, String folder) implements Response {}
