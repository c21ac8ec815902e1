package dev.larder.command.launch;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.cluster.NodeData;
import dev.larder.command.program.LarderScript;
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
 * The datasets of {@code --data} in the store of this machine. If there is no daemon, one is started in a session of its own, so that it
 * survives the death of this command, and the next start of the ranks finds the data. A launch that ends in order stops the daemon.
 *
 * <p>The versions are leased until {@link #end}, so that they are not evicted before the ranks have opened them.
 */
public final class LaunchData implements NodeData {
    /** Marks the descendants of a launcher, such as an executor of Spark, which end with it. */
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
     * Keeps the settings; loads nothing.
     *
     * @param idle the time without leases after which a daemon that is started here ends
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
                        .remedy("give all its sources the same suffixes");
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

    /** Loads the data for the ranks of a single machine. */
    public void load() {
        Object unused = loadAndHold(new ShardRows(0, 1));
    }

    @Override
    public Loaded load(String listing, int node, int nodes) {
        RunListing.requireSame(listing, list());
        Loaded loaded = loadAndHold(new ShardRows(node, nodes));
        if (isCut()) {
            RunListing.requireSame(listing, list()); // no file has changed during the load
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
                    throw e; // else another launch has ended and stopped its daemon
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

    /** Leases the loaded versions, and releases those of an earlier round. */
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
        String program = LarderScript.path();
        if (program == null) {
            throw Failure.of(ErrorCode.NO_DAEMON, "no daemon at the store, and no script to start one")
                    .with("store", store)
                    .remedy("larder serve --detach");
        }
        List<String> words = List.of(
                "setsid", // Ctrl-C reaches this command only, which then stops the daemon in order
                program,
                "--store",
                store.toString(),
                "serve",
                "--detach",
                "--until-idle",
                idle.toMillis() + "ms");
        Deadline deadline = Deadline.after(START_PATIENCE);
        Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
        do { // another launch may stop its daemon before this one is connected
            String output = start(words);
            if (isThere(client)) {
                return;
            }
            if (deadline.isOver()) {
                throw Failure.of(ErrorCode.NO_DAEMON, "the daemon that was starting does not answer")
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

    /** Starts a daemon, unless the launch has ended, and returns its output. A concurrent end waits for this, and then stops the daemon. */
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

    private String run(List<String> words) {
        try {
            ProcessBuilder builder = new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
            builder.environment().remove(RunSecret.VARIABLE); // the daemon outlives the run
            builder.environment().remove(FAMILY_VARIABLE); // and its starter
            Process process = builder.start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            isStartedHere = output.contains("Done caching");
            int code = process.waitFor();
            if (code != 0 && code != ErrorCode.REFUSED.number()) { // another daemon was faster
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
     * Releases the data. After an end in order, a daemon that was started here is stopped unless others hold leases. After any other end it
     * stays for a while, for the next start of the ranks.
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
