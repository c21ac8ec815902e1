package dev.larder.internal.protocol;

/**
 * The client's turn to build a dataset on this connection.
 *
 * @param folder the folder where the client writes {@code .npy} files, one per array, with subfolders for the levels of a name
 */
public record Build(String folder) implements Response {}
