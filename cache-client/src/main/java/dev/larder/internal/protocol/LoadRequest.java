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
 * Requests that the daemon load sources and publish them.
 *
 * @param options how to read and store them
 * @param workers number of threads; 0 lets the daemon choose
 * @param retention how long the result stays
 * @param registerOnly whether to record the sources only; the first request for the dataset loads it
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

    /** Requests datasets that stay as long as there is room. */
    public LoadRequest(List<Source> sources, LoadOptions options, int workers) {
        this(sources, options, workers, Retention.NORMAL, false);
    }

    /** Requests plain arrays that match one of the keys. */
    public LoadRequest(List<Source> sources, List<String> keys, int workers) {
        this(sources, LoadOptions.none().withKeys(keys), workers);
    }

    /** Returns this request for other sources. */
    public LoadRequest withSources(List<Source> others) {
        return new LoadRequest(others, options, workers, retention, registerOnly);
    }

    /** Returns this request with another retention. */
    public LoadRequest withRetention(Retention newValue) {
        return new LoadRequest(sources, options, workers, newValue, registerOnly);
    }

    /** Returns this request, only registering the sources or loading them. */
    public LoadRequest withRegisterOnly(boolean newValue) {
        return new LoadRequest(sources, options, workers, retention, newValue);
    }

    /** The maximum number of worker threads in a request. */
    public static final int MAX_WORKERS = 65_534;

    /** One {@code NAME=PATH}. The path is an address, or absolute, because the daemon has another working directory. */
    public record Source(String name, String path) {
        /** Returns whether the path is an address. */
        public boolean isRemote() {
            return SourceAddress.is(path);
        }

        /** Returns the path, or the address without its secrets. */
        public String visiblePath() {
            return isRemote() ? SourceAddress.visible(path) : path;
        }

        @Override
        public String toString() {
            return name + "=" + visiblePath();
        }

        /**
         * Returns the path of a local source.
         *
         * @throws dev.larder.error.LarderException BAD_INPUT if no file of this machine can have this path
         */
        public Path file() {
            try {
                return Path.of(path);
            } catch (InvalidPathException e) {
                throw Failure.of(ErrorCode.BAD_INPUT, "path cannot be a file path in this locale")
                        .with("dataset", name)
                        .with("path", Names.printable(path))
                        .with("encoding", System.getProperty("sun.jnu.encoding"))
                        .cause(e)
                        .remedy("name another file, or start the daemon with LC_ALL=C.UTF-8");
            }
        }
    }
}
