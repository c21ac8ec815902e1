package dev.larder.junit;

import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.client.StringsWriter;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.server.Daemon;
import dev.larder.server.DaemonConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * A store of its own with a daemon in this JVM. It needs no flag and starts no process.
 *
 * <p>{@link #close} ends the clients that {@link #connect} returned, stops the daemon and removes the store, as does an orderly end of the JVM. After a
 * {@code kill -9}, {@code larder gc} removes the store. Thread-safe.
 */
public final class TestStore implements AutoCloseable {
    private static final long CAPACITY_BYTES = 1L << 30;

    private final Path path;
    private final Daemon daemon;
    private final List<Larder> clients = new ArrayList<>();
    private final Thread atExit = new Thread(this::end, "end of a test's store");
    private boolean isClosed;

    private TestStore(Path path) {
        this.path = path;
        this.daemon = Daemon.start(new DaemonConfig(path, OptionalLong.of(CAPACITY_BYTES), 1));
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** Starts a daemon on a new store in shared memory, or in {@code /var/tmp} if this user cannot write there. It holds up to 1 GiB if there is so much. */
    public static TestStore start() {
        return new TestStore(StoreLocation.writablePlace().resolve("larder-test-" + UUID.randomUUID()));
    }

    /** Returns the folder of the store, for {@link Larder#connect(Path)} and {@code --store}. */
    public Path path() {
        return path;
    }

    /** Connects a client. This closes it; closing it earlier is allowed. */
    public synchronized Larder connect() {
        requireOpen();
        Larder client = Larder.connect(path);
        clients.add(client);
        return client;
    }

    /**
     * Publishes the next version of a dataset, and returns this.
     *
     * @param arrays values by name: arrays of {@code byte} ({@code |u1}), {@code int}, {@code long}, {@code float} or {@code double} with any number of
     *     dimensions, such as {@code float[][]}, or {@code String[]} for a column of texts
     */
    public TestStore publish(String dataset, Map<String, ?> arrays) {
        requireOpen();
        try (Larder larder = Larder.connect(path);
                DatasetBuilder builder = larder.build(dataset)) {
            arrays.forEach((name, values) -> add(builder, name, values));
            builder.publish();
        }
        return this;
    }

    /** Loads a file or a folder as the next version of a dataset, as {@code larder load} does, and returns this. */
    public TestStore load(String dataset, Path source) {
        requireOpen();
        LoadRequest.Source named =
                new LoadRequest.Source(dataset, source.toAbsolutePath().toString());
        Object unused = ControlClient.at(path).load(new LoadRequest(List.of(named), List.of(), 1), progress -> {});
        return this;
    }

    private static void add(DatasetBuilder builder, String name, Object values) {
        if (values instanceof String[] texts) {
            StringsWriter column = builder.strings(name);
            for (String text : texts) {
                column.add(text);
            }
        } else {
            NestedArray nested = NestedArray.of(name, values);
            nested.write(builder.array(name, nested.dtype(), nested.shape()));
        }
    }

    private synchronized void requireOpen() {
        if (isClosed) {
            throw new IllegalStateException("the test's store is closed: path=" + path);
        }
    }

    @Override
    public void close() {
        if (end()) {
            forgetHook();
        }
    }

    private void forgetHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException jvmEnds) {
            return; // the hook has nothing left to do
        }
    }

    private synchronized boolean end() {
        if (isClosed) {
            return false;
        }
        isClosed = true;
        try {
            clients.forEach(Larder::close);
        } finally {
            daemon.close();
        }
        return true;
    }

    @Override
    public String toString() {
        return "TestStore[" + path + "]";
    }
}
