package dev.larder.command.launch;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.cluster.NodeData;
import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ShardRows;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import dev.larder.server.store.lock.LeaseTable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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
    /** Marks what ends with the program that started it, such as an executor of Spark. */
    private static final String FAMILY_VARIABLE = "LARDER_FAMILY";

    private static final int ATTEMPTS = 3;
    private static final Duration START_PATIENCE = Duration.ofSeconds(30);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    private final List<DataSource> data;
    private final Path store;
    private final Duration idle;
    private final Consumer<String> said;
    private final Map<String, Dataset> held = new HashMap<>();
    private volatile @Nullable Larder larder;
    private volatile boolean isStartedHere;
    private boolean hasEnded;

    /**
     * Remembers what is wanted; nothing is read yet.
     *
     * @param idle when a daemon that is started here leaves, after nobody has held a lease for so long
     */
    LaunchData(List<DataSource> data, Path store, Duration idle, Consumer<String> said) {
        this.data = List.copyOf(data);
        requireOneWay(data);
        this.store = store;
        this.idle = idle;
        this.said = said;
    }

    @Override
    public String wanted() {
        return data.stream().map(DataSource::wanted).distinct().collect(Collectors.joining(","));
    }

    private static void requireOneWay(List<DataSource> data) {
        Map<String, DataSource> ways = new HashMap<>();
        for (DataSource wanted : data) {
            DataSource before = ways.putIfAbsent(wanted.source().name(), wanted);
            if (before != null && !before.wanted().equals(wanted.wanted())) {
                String what = before.isShard() == wanted.isShard()
                        ? "the sources of a dataset are of different kinds"
                        : "a dataset is both whole and cut into shards";
                throw Failure.of(ErrorCode.USAGE, what)
                        .with("dataset", wanted.source().name())
                        .remedy("say the same behind all its sources");
            }
        }
    }

    @Override
    public boolean isCut() {
        return data.stream().anyMatch(DataSource::isShard);
    }

    @Override
    public String list() {
        return RunListing.of(data);
    }

    /** Brings the data for the ranks of this machine alone. */
    public void load() {
        Object unused = loadAndHold(new ShardRows(0, 1));
    }

    @Override
    public Loaded load(String listing, int node, int nodes) {
        RunListing.requireSame(listing, list());
        Loaded loaded = loadAndHold(new ShardRows(node, nodes));
        if (isCut()) {
            RunListing.requireSame(listing, list()); // what it read meanwhile is what was listed
        }
        return loaded;
    }

    @Override
    public String agree(List<String> proofs) {
        return ShardProof.agree(proofs);
    }

    @Override
    public void keep(String wholes) {
        ControlClient client = ControlClient.at(store);
        for (String line : wholes.lines().toList()) {
            String[] words = line.split(" ", 2);
            Dataset dataset = requireHeld(words[0]);
            if (dataset.stored().shards() > 1) {
                Object unused = client.noteWhole(dataset.name(), dataset.digest(), words[1]);
            }
        }
    }

    private Dataset requireHeld(String name) {
        return Objects.requireNonNull(held.get(name), name);
    }

    private Loaded loadAndHold(ShardRows shard) {
        ControlClient client = ControlClient.at(store);
        for (int attempt = 1; ; attempt++) {
            startDaemon(client);
            try {
                return loadAndHold(client, shard);
            } catch (LarderException e) {
                if (e.code() != ErrorCode.NO_DAEMON || attempt == ATTEMPTS) {
                    throw e; // else another launch has ended, and stopped the daemon that it had started
                }
            }
        }
    }

    private Loaded loadAndHold(ControlClient client, ShardRows shard) {
        long begin = System.nanoTime();
        long files = 0;
        long bytes = 0;
        Map<LoadOptions, List<LoadRequest.Source>> together = new LinkedHashMap<>();
        for (DataSource wanted : data) {
            boolean isAll = !wanted.isShard() || shard.count() == 1;
            LoadOptions options = LoadOptions.none().withAs(wanted.as()).withShard(isAll ? null : shard);
            together.computeIfAbsent(options, none -> new ArrayList<>()).add(wanted.source());
        }
        for (Map.Entry<LoadOptions, List<LoadRequest.Source>> each : together.entrySet()) {
            Done done = client.load(new LoadRequest(each.getValue(), each.getKey(), 0), ProgressListener.NONE);
            files += done.files();
            bytes += done.bytes();
        }
        said.accept("data: " + wanted() + (files == 0 ? " was there" : " loaded: bytes=" + bytes) + " millis="
                + (System.nanoTime() - begin) / 1_000_000);
        return hold(shard);
    }

    /** Leases what was loaded, and then what an earlier round had no longer. */
    private synchronized Loaded hold(ShardRows shard) {
        if (hasEnded) {
            throw interrupted();
        }
        Larder before = larder;
        List<Dataset> heldBefore = List.copyOf(held.values());
        Larder holder = Larder.connect(store);
        larder = holder;
        held.clear();
        try {
            return hold(holder, shard);
        } finally {
            heldBefore.forEach(Dataset::close); // nothing else refers to them any more, not even their connection
            if (before != null) {
                before.close();
            }
        }
    }

    private Loaded hold(Larder holder, ShardRows shard) {
        Set<String> digests = new LinkedHashSet<>();
        List<String> proofs = new ArrayList<>();
        for (DataSource wanted : data) {
            String name = wanted.source().name();
            Dataset dataset = held.computeIfAbsent(name, holder::dataset);
            if (!wanted.isShard()) {
                digests.add(name + " " + dataset.digest());
            } else {
                proofs.addAll(ShardProof.of(dataset, shard));
            }
        }
        return new Loaded(String.join("\n", digests), String.join("\n", new LinkedHashSet<>(proofs)));
    }

    private void startDaemon(ControlClient client) {
        if (isThere(client)) {
            return;
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
                idle.toMillis() + "ms");
        Deadline deadline = Deadline.after(START_PATIENCE);
        Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
        do { // another launch may have started one before, and may stop it before this one is connected
            String output = start(words);
            if (isThere(client)) {
                return;
            }
            if (deadline.isOver()) {
                throw Failure.of(ErrorCode.NO_DAEMON, "no daemon answers at the store, where one was starting")
                        .with("store", store)
                        .with("waited", START_PATIENCE)
                        .with("reason", output.strip())
                        .remedy("larder doctor");
            }
            if (!backoff.pause(deadline)) {
                throw interrupted();
            }
        } while (!isThere(client));
    }

    private static boolean isThere(ControlClient client) {
        try {
            Object unused = client.info();
            return true;
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_DAEMON) {
                throw e;
            }
            return false;
        }
    }

    /** Starts one, unless the launch has ended: whoever ends it meanwhile waits, and stops the daemon then. Returns what that said. */
    private synchronized String start(List<String> words) {
        if (hasEnded) {
            throw interrupted();
        }
        String output = run(words);
        if (isStartedHere) {
            said.accept("data: started a daemon: store=" + store + " untilIdle=" + idle.toSeconds() + "s");
        }
        return output;
    }

    /** Returns the script that this command was started by, or that its caller means. */
    static @Nullable String program() {
        String script = System.getProperty("larder.program");
        return script == null ? System.getenv("LARDER_COMMAND") : script;
    }

    private String run(List<String> words) {
        try {
            ProcessBuilder builder = new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
            builder.environment().remove(RunSecret.VARIABLE); // it outlives the run
            builder.environment().remove(FAMILY_VARIABLE); // and whoever started it
            Process process = builder.start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            isStartedHere = output.contains("Done caching");
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
            throw interrupted();
        }
    }

    private LarderException interrupted() {
        return Failure.of(ErrorCode.INTERRUPTED, "stopped while a daemon was starting")
                .with("store", store)
                .exception();
    }

    /**
     * Gives the data back. A daemon that was started here is stopped after an end in order, unless others hold leases; after any other it
     * stays for a while, for those who start the ranks again.
     */
    public synchronized void end(boolean isInOrder) {
        hasEnded = true;
        held.values().forEach(Dataset::close);
        Larder holder = larder;
        if (holder != null) {
            holder.close();
        }
        if (!isStartedHere) {
            return;
        }
        try {
            ControlClient client = ControlClient.at(store);
            if (!isInOrder || isUsedByOthers(client)) {
                said.accept("data: the daemon stays until nobody has held the data for " + idle.toSeconds()
                        + "s: store=" + store);
                return;
            }
            Object unused = client.stop(false, ProgressListener.NONE);
        } catch (LarderException e) {
            said.accept("data: cannot stop the daemon: reason=" + Objects.requireNonNullElse(e.getMessage(), ""));
        }
    }

    private boolean isUsedByOthers(ControlClient client) {
        boolean isOwnLoadOver = larder != null;
        return !LeaseTable.of(new StoreLayout(store)).inUse().isEmpty()
                || (isOwnLoadOver && !client.loads().isEmpty());
    }
}
