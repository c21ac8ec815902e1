package dev.larder.protocol;

import java.util.List;

/**
 * Asks the daemon to load sources and publish them.
 *
 * @param options how to read and keep them
 * @param workers threads to use; 0 lets the daemon choose
 * @param retention how long what is loaded is wanted
 * @param registerOnly whether only to note where it comes from; the first who asks for it has it loaded
 */
public record LoadRequest(
        List<Source> sources, LoadOptions options, int workers, Retention retention, boolean registerOnly)
        implements Request {

    /** Copies the lists. */
    public LoadRequest {
        sources = List.copyOf(sources);
        if (workers < 0 || workers > MAX_WORKERS) {
            throw new IllegalArgumentException("workers=" + workers);
        }
    }

    /** Asks for what stays as long as there is room. */
    public LoadRequest(List<Source> sources, LoadOptions options, int workers) {
        this(sources, options, workers, Retention.NORMAL, false);
    }

    /** Asks for plain arrays, those that match one of the keys. */
    public LoadRequest(List<Source> sources, List<String> keys, int workers) {
        this(sources, LoadOptions.none().withKeys(keys), workers);
    }

    /** Returns the same, wanted for as long as this says. */
    public LoadRequest withRetention(Retention wanted) {
        return new LoadRequest(sources, options, workers, wanted, registerOnly);
    }

    /** Returns the same, to be noted only, or loaded. */
    public LoadRequest withRegisterOnly(boolean wanted) {
        return new LoadRequest(sources, options, workers, retention, wanted);
    }

    /** The most worker threads that one may ask for. */
    public static final int MAX_WORKERS = 65_534;

    /** One {@code NAME=PATH}; the path is absolute, as the daemon's working directory is another. */
    public record Source(String name, String path) {}
}
