package dev.larder.protocol;

import java.util.List;

/**
 * Asks the daemon to load sources and publish them.
 *
 * @param options how to read and keep them
 * @param workers threads to use; 0 lets the daemon choose
 */
public record LoadRequest(List<Source> sources, LoadOptions options, int workers) implements Request {

    /** Copies the lists. */
    public LoadRequest {
        sources = List.copyOf(sources);
        if (workers < 0 || workers > MAX_WORKERS) {
            throw new IllegalArgumentException("workers=" + workers);
        }
    }

    /** Asks for plain arrays, those that match one of the keys. */
    public LoadRequest(List<Source> sources, List<String> keys, int workers) {
        this(sources, LoadOptions.none().withKeys(keys), workers);
    }

    /** The most worker threads that one may ask for. */
    public static final int MAX_WORKERS = 65_534;

    /** One {@code NAME=PATH}; the path is absolute, as the daemon's working directory is another. */
    public record Source(String name, String path) {}
}
