package dev.larder.internal.protocol;

import dev.larder.message.OptionalField;
import org.jspecify.annotations.Nullable;

/**
 * The client's turn to build a dataset on this connection.
 *
 * @param folder the folder where the client writes {@code .npy} files, one per array, with subfolders for the levels of a name
 * @param memoryPolicy the policy of the daemon for memory nodes, for the client to follow while it writes; null from earlier daemons
 */
public record Build(String folder, @OptionalField @Nullable String memoryPolicy) implements Response {}
