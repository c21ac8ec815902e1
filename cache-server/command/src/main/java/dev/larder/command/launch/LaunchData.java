package dev.larder.command.launch;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.cluster.NodeData;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.server.store.lock.LeaseTable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What {@code --data} names, in the store of this machine. A daemon that is not there is started in a session of its own, so that it
 * outlives this command where that is killed, and whoever starts the ranks again finds the data; a launch that ends in order stops it.
 *
 * <p>The versions are leased until {@link #end}, so that nothing evicts them before the ranks have opened them.
 */
public final class LaunchData implements NodeData {
    private final List<LoadRequest.Source> sources;
    private final Path store;
    private final Duration idle;
    private final Consumer<String> said;
    private volatile @Nullable Larder larder;
    private volatile boolean isStartedHere;

    /**
     * Remembers what is wanted; nothing is read yet.
     *
     * @param idle when a daemon that is started here leaves, after nobody has held a lease for so long
     */
    public LaunchData(List<LoadRequest.Source> sources, Path store, Duration idle, Consumer<String> said) {
        this.sources = List.copyOf(sources);
        this.store = store;
        this.idle = idle;
        this.said = said;
    }

    @Override
    public String wanted() {
        return sources.stream().map(LoadRequest.Source::name).collect(Collectors.joining(","));
    }

    @Override
    public String list() {
        return SourceListing.of(sources);
    }

    @Override
    public String load(String listing) {
        SourceListing.requireSame(listing, list());
        ControlClient client = ControlClient.at(store);
        startDaemon(client);
        long begin = System.nanoTime();
        Done done = client.load(new LoadRequest(sources, LoadOptions.none(), 0), ProgressListener.NONE);
        said.accept("data: " + wanted() + (done.files() == 0 ? " was there" : " loaded: bytes=" + done.bytes())
                + " millis=" + (System.nanoTime() - begin) / 1_000_000);
        Larder holder = Larder.connect(store);
        larder = holder;
        List<String> digests = new ArrayList<>();
        for (LoadRequest.Source source : sources) {
            Dataset dataset = holder.dataset(source.name());
            digests.add(source.name() + " " + dataset.digest());
        }
        return String.join("\n", digests);
    }

    private void startDaemon(ControlClient client) {
        try {
            Object unused = client.greet();
            return;
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_DAEMON) {
                throw e;
            }
        }
        String program = program();
        if (program == null) {
            throw Failure.of(ErrorCode.NO_DAEMON, "no daemon at the store, and no script to start one")
                    .with("store", store)
                    .remedy("larder serve --detach");
        }
        List<String> words = List.of(
                "setsid", // the terminal's Ctrl-C is for this command, which then stops the daemon in order
                program,
                "--store",
                store.toString(),
                "serve",
                "--detach",
                "--until-idle",
                idle.toSeconds() + "s");
        String output = run(words);
        said.accept("data: started a daemon: store=" + store + " untilIdle=" + idle.toSeconds() + "s");
        isStartedHere = output.contains("Done caching");
    }

    /** Returns the script that this command was started by, or that its caller means. */
    private static @Nullable String program() {
        String script = System.getProperty("larder.program");
        return script == null ? System.getenv("LARDER_COMMAND") : script;
    }

    private String run(List<String> words) {
        try {
            Process process = new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int code = process.waitFor();
            if (code != 0 && code != ErrorCode.REFUSED.number()) { // another one was quicker
                throw Failure.of(ErrorCode.ofNumber(code), "the daemon did not start")
                        .with("store", store)
                        .with("exitCode", code)
                        .with("reason", output.strip())
                        .exception();
            }
            return output;
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot start a daemon")
                    .with("command", String.join(" ", words))
                    .cause(e)
                    .with("reason", e)
                    .remedy("install util-linux and coreutils, or start it: larder serve --detach");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "stopped while a daemon was starting")
                    .with("store", store)
                    .exception();
        }
    }

    /**
     * Gives the data back. A daemon that was started here is stopped after an end in order, unless others hold leases; after any other it
     * stays for a while, for those who start the ranks again.
     */
    public void end(boolean isInOrder) {
        Larder holder = larder;
        if (holder != null) {
            holder.close();
        }
        if (!isStartedHere) {
            return;
        }
        if (!isInOrder || !LeaseTable.of(new StoreLayout(store)).inUse().isEmpty()) {
            said.accept("data: the daemon stays until nobody has held the data for " + idle.toSeconds() + "s: store="
                    + store);
            return;
        }
        try {
            Object unused = ControlClient.at(store).stop(false, ProgressListener.NONE);
        } catch (LarderException e) {
            said.accept("data: cannot stop the daemon: reason=" + Objects.requireNonNullElse(e.getMessage(), ""));
        }
    }
}
