package dev.larder.internal.protocol;

import java.util.List;

/**
 * Asks the daemon to make files for a build in a store of another user, where a client may put none itself.
 *
 * @param token from {@link Build}
 * @param files what is to be made
 */
public record NewFilesRequest(long token, List<NewFile> files) implements Request {
    /** Copies the list. */
    public NewFilesRequest {
        files = List.copyOf(files);
    }

    /**
     * The file of one array.
     *
     * @param array its name within the dataset
     * @param byteSize how long the {@code .npy} file will be, header included
     * @param source where its data comes from, for people; empty for what is computed
     */
    public record NewFile(String array, long byteSize, String source) {}
}
