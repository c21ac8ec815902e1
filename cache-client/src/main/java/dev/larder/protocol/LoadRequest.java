package dev.larder.protocol;

import java.util.List;

/**
 * Asks the daemon to load sources and publish them.
 *
 * @param keys only arrays that match one of these are loaded; empty means all
 * @param workers threads to use; 0 lets the daemon choose
 */
public record LoadRequest(List<Source> sources, List<String> keys, int workers) implements Request {

    /** Copies the lists. */
    public LoadRequest {
        sources = List.copyOf(sources);
        keys = List.copyOf(keys);
        if (workers < 0 || workers > MAX_WORKERS) {
            throw new IllegalArgumentException("workers=" + workers);
        }
    }

    /** The most worker threads that one may ask for. */
    public static final int MAX_WORKERS = 65_534;

    /** One {@code NAME=PATH}; the path is absolute, as the daemon's working directory is another. */
    public record Source(String name, String path) {}
}
