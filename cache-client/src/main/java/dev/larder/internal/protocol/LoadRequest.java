package dev.larder.internal.protocol;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.message.OptionalField;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * Asks the daemon to load sources and publish them.
 *
 * @param options how to read and keep them
 * @param workers threads to use; 0 lets the daemon choose
 * @param retention how long what is loaded is wanted
 * @param registerOnly whether only to note where it comes from; the first who asks for it has it loaded
 */
public record LoadRequest(
        List<Source> sources,
        @OptionalField LoadOptions options,
        @OptionalField int workers,
        @OptionalField Retention retention,
        @OptionalField boolean registerOnly)
        implements Request {

    /** Copies the lists, and replaces absent values by their defaults. */
    public LoadRequest {
        sources = List.copyOf(sources);
        options = Objects.requireNonNullElseGet(options, LoadOptions::none);
        retention = Objects.requireNonNullElse(retention, Retention.NORMAL);
        if (workers < 0 || workers > MAX_WORKERS) {
            throw new IllegalArgumentException("workers is not from 0 to " + MAX_WORKERS + ": " + workers);
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

    /** Returns the same for other sources. */
    public LoadRequest withSources(List<Source> others) {
        return new LoadRequest(others, options, workers, retention, registerOnly);
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

    /** One {@code NAME=PATH}; the path is absolute, as the daemon's working directory is another, or an address. */
    public record Source(String name, String path) {
        /** Tells whether it lies elsewhere, at an address. */
        public boolean isRemote() {
            return SourceAddress.is(path);
        }

        /** Returns the path, or the address without what nobody else may see. */
        public String visiblePath() {
            return isRemote() ? SourceAddress.visible(path) : path;
        }

        @Override
        public String toString() {
            return name + "=" + visiblePath();
        }

        /**
         * Returns where it lies.
         *
         * @throws dev.larder.error.LarderException BAD_INPUT where no file of this machine can be called so
         */
        public Path file() {
            try {
                return Path.of(path);
            } catch (InvalidPathException e) {
                throw Failure.of(ErrorCode.BAD_INPUT, "path cannot be that of a file here")
                        .with("dataset", name)
                        .with("path", Names.printable(path))
                        .with("encoding", System.getProperty("sun.jnu.encoding"))
                        .cause(e)
                        .remedy("name another file, or start the daemon with LC_ALL=C.UTF-8");
            }
        }
    }
}
