package dev.larder.internal.protocol;

/**
 * The turn of a client to build a dataset, on the connection that it comes over.
 *
 * @param folder where the client writes {@code .npy} files, one an array, levels of names as folders
 */
public record Build(String folder) implements Response {}
