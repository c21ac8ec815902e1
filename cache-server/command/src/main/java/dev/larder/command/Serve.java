package dev.larder.command;

import dev.larder.command.options.LoadArguments;
import dev.larder.command.options.SourceConverter;
import dev.larder.command.options.StandardInput;
import dev.larder.command.output.Outcome;
import dev.larder.command.output.Units;
import dev.larder.command.page.StatusPage;
import dev.larder.command.serve.DaemonLogging;
import dev.larder.command.serve.DetachedProcess;
import dev.larder.command.serve.FirstLoads;
import dev.larder.command.serve.Preparation;
import dev.larder.command.serve.StopSignals;
import dev.larder.command.terminal.ProgressDisplay;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.MemoryNodes;
import dev.larder.internal.posix.MemoryPolicy;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.server.Daemon;
import dev.larder.server.DaemonConfig;
import dev.larder.server.Sharing;
import dev.larder.server.http.HttpEndpoint;
import dev.larder.server.store.CleanUp;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Runs the daemon. */
@Command(
        name = "serve",
        description = {
            "Run the daemon until Ctrl-C, SIGTERM or larder stop, and then remove what it owns.",
            "A second Ctrl-C stops it at once, without cleaning up.",
            "LARDER_DAEMON_HEAP=SIZE limits its heap, as in LARDER_DAEMON_HEAP=4g (default: an eighth of the memory,"
                    + " from 256m to 8g); millions of files need more."
        })
final class Serve implements Callable<Integer> {
    private static final long SMALL_CAPACITY_BYTES = 1 << 20;

    @ParentCommand
    LarderCommand larder;

    @Spec
    CommandSpec spec;

    @Option(
            names = "--load",
            paramLabel = "NAME=PATH",
            converter = SourceConverter.class,
            description =
                    "Load this first; may be given several times. A dataset that cannot be loaded is reported, and"
                            + " loaded on larder reload or at the first open; the others are served.")
    List<LoadRequest.Source> sources = List.of();

    @Option(
            names = "--strict-loads",
            description = "End, and leave nothing, unless everything that --load names can be loaded.")
    boolean strictLoads;

    @Mixin
    LoadArguments options;

    @Option(
            names = "--capacity",
            paramLabel = "SIZE",
            converter = Units.SizeConverter.class,
            description = "How much the store may hold (default: 80 %% of what the mount and the control group allow).")
    @Nullable
    Long capacityBytes;

    @Option(
            names = "--group",
            paramLabel = "G",
            description =
                    "Open the store to this group: its members may read, wait, and load what they can read themselves.")
    @Nullable
    String group;

    @Option(
            names = "--group-quota",
            paramLabel = "SIZE",
            converter = Units.SizeConverter.class,
            description = "How much the members of the group may load in total (default: half of the capacity).")
    @Nullable
    Long groupQuotaBytes;

    @Option(names = "--keep", description = "Keep the store for the next start.")
    boolean keep;

    @Option(names = "--verify", description = "Verify the checksums of everything that an earlier daemon left.")
    boolean verify;

    @Option(
            names = "--no-collapse",
            description =
                    "Leave data on the pages that it was loaded to: do not move it to huge pages in the background.")
    boolean noCollapse;

    @Option(
            names = "--numa",
            paramLabel = "interleave|local",
            description =
                    "Spread data over all memory nodes, or put it where the thread that writes it runs. The default is a"
                            + " policy that numactl has set, otherwise interleave if there are several nodes.")
    MemoryPolicy.@Nullable Placement numa;

    @Option(
            names = "--detach",
            description = "Return when everything is loaded, and serve in the background; see --log-file.")
    boolean detach;

    @Option(
            names = "--until-idle",
            paramLabel = "D",
            converter = Units.DurationConverter.class,
            description =
                    "Stop and clean up when nothing was leased, requested or loading for this long. The store is kept"
                            + " if it has computed data or loads of a group's members, which the daemon cannot load again.")
    @Nullable
    Duration untilIdle;

    @Option(
            names = "--http",
            paramLabel = "PORT",
            description = "Serve a status page, and metrics for Prometheus, on this port of the loopback interface. The"
                    + " addresses, with their secret token, are printed at start. 0: any free port.")
    @Nullable
    Integer httpPort;

    @Option(
            names = "--http-host",
            paramLabel = "NAME",
            description = "Also answer HTTP requests for this host name, such as that of a proxy, besides localhost,"
                    + " 127.0.0.1 and [::1]. May be given several times.")
    Set<String> httpHosts = Set.of();

    @Option(
            names = "--http-token-file",
            paramLabel = "FILE",
            description =
                    "Take the token for --http from this file, which keeps it from start to start. If it is absent, it"
                            + " is created: for this user alone, with --group also for the group.")
    @Nullable
    Path httpTokenFile;

    @Mixin
    DaemonLogging logging;

    @Option(names = "--json", description = "Print progress of --load as JSON on standard error, one object a line.")
    boolean json;

    /** True if an event for the failure was printed. */
    private boolean reported;

    /** True if the script that started a background daemon no longer waits. */
    private boolean isLeftAlone;

    @Override
    public Integer call() {
        requireSane();
        requireCompiler();
        if (detach) {
            DetachedProcess.requireScript();
        }
        Preparation.awaitLogging();
        logging.apply(larder.debug);
        try {
            return serve();
        } catch (LarderException failure) {
            if (!logging.isJson()) {
                throw failure;
            }
            log().error(failure.getMessage(), larder.debug ? failure : null);
            return failure.rawCode();
        }
    }

    private static Logger log() {
        return LoggerFactory.getLogger(Serve.class);
    }

    /** Fails early on a Java runtime without a compiler. */
    private static void requireCompiler() {
        if (ModuleLayer.boot().findModule("jdk.compiler").isEmpty()) {
            throw Failure.of(ErrorCode.UNEXPECTED, "this Java cannot run the daemon: it lacks the module jdk.compiler")
                    .with("home", System.getProperty("java.home"))
                    .remedy("install a JDK instead of a JRE (apt-get install default-jdk-headless), or set JAVA_HOME");
        }
    }

    private int serve() {
        StopSignals signals = StopSignals.install(keep);
        if (detach) {
            Posix.system().leaveTerminal();
        }
        placeMemory();
        Daemon daemon = Daemon.start(new DaemonConfig(
                larder.store(),
                optional(capacityBytes),
                options.workers(),
                sharing(),
                () -> verify && !signals.isStopping(),
                !noCollapse));
        signals.stop(daemon);
        return loadAndWait(daemon);
    }

    /** Sets the policy for memory nodes. Threads and child processes that fill the store inherit it, because they start later. */
    private void placeMemory() {
        BulkIo io = BulkIo.system();
        MemoryPolicy inherited = io.memoryPolicy();
        MemoryPolicy chosen = MemoryPolicy.choose(MemoryNodes.ofThisMachine(), inherited, numa);
        if (!chosen.equals(inherited) && !io.setMemoryPolicy(chosen)) {
            note("the kernel refuses a policy for memory nodes: policy=" + chosen + " inherited=" + inherited
                    + "; in a container allow set_mempolicy (--cap-add SYS_NICE), or give --numa local");
        }
    }

    /** Warns of a capacity that the machine cannot provide, and of one that is small because its unit is missing. */
    private void tellOfCapacity(Daemon daemon) {
        long most = daemon.mostBytes();
        if (capacityBytes != null && capacityBytes > most) {
            note("the capacity is more than the mount and the control group allow: capacity=" + readable(capacityBytes)
                    + " allowed=" + readable(most)
                    + "; loads beyond that are refused: lower --capacity, or enlarge the mount with mount -o"
                    + " remount,size=SIZE");
        } else if (capacityBytes != null && capacityBytes < SMALL_CAPACITY_BYTES) {
            note("the capacity is very small: capacity=" + readable(capacityBytes)
                    + "; a plain number is in bytes: for megabytes or gigabytes write 512m or 10g");
        }
    }

    private static String readable(long bytes) {
        return Units.size(bytes) + " (" + bytes + " bytes)";
    }

    private void note(String note) {
        if (logging.isJson()) {
            log().warn(note);
        } else if (!json) { // else standard error is for progress
            larder.err().println("larder: note: " + note);
        }
    }

    /** Prints a note about stores of dead daemons. A failure to find them does not stop the start. */
    private void tellOfLeftovers(Daemon daemon) {
        try {
            Gc.noteOfLeftovers(daemon.layout().root()).ifPresent(this::note);
        } catch (RuntimeException e) {
            log().warn("cannot look for stores of dead daemons: reason={}", e.toString());
        }
    }

    /** Prints a note if shared memory is small, so that the store is on a disk. */
    private void tellOfDisk(Path store) {
        StoreLocation.smallMemory(store)
                .ifPresent(sizes -> note("the store is on a disk: store=" + store + " reason=" + sizes
                        + "; nothing has to be done: processes share the page cache. A container has more shared memory"
                        + " with --shm-size"));
    }

    private Sharing sharing() {
        if (group == null && groupQuotaBytes != null) {
            throw Failure.of(ErrorCode.USAGE, "a quota without a group")
                    .with("groupQuota", groupQuotaBytes)
                    .remedy("name the group with --group");
        }
        return new Sharing(Optional.ofNullable(group), optional(groupQuotaBytes));
    }

    private static OptionalLong optional(@Nullable Long value) {
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }

    private void offer(Daemon daemon) {
        if (httpPort != null) {
            Function<String, URI> address = daemon.serveHttp(
                    httpPort,
                    httpHosts,
                    httpTokenFile,
                    StatusPage.resources(daemon.overview(), daemon.layout().root()));
            if (logging.isJson()) { // more people may read a log than may have the token
                log().info("status page: {}", address.apply(HttpEndpoint.PAGE).resolve(HttpEndpoint.PAGE));
            } else {
                larder.out().println("Status page: " + address.apply(HttpEndpoint.PAGE));
                larder.out().println("Metrics: " + address.apply(HttpEndpoint.METRICS));
            }
        }
        if (untilIdle != null) {
            Duration limit = untilIdle;
            daemon.whenIdle(limit, () -> {
                boolean holdsComputed = daemon.holdsComputed();
                String line = "Unused for " + Units.duration(limit) + ": ending"
                        + (holdsComputed ? ", and keeping the store: some of its data has no source." : ".");
                tell(line);
                if (!logging.isJson()) { // the output of a detached daemon is lost
                    log().info(line);
                }
                daemon.stop(keep || holdsComputed);
            });
        }
    }

    private void requireSane() {
        if (httpPort != null && (httpPort < 0 || httpPort > 65_535)) {
            throw new ParameterException(spec.commandLine(), "no such port: " + httpPort);
        }
        if (httpPort == null && httpTokenFile != null) {
            throw new ParameterException(spec.commandLine(), "--http-token-file needs --http PORT");
        }
        if (untilIdle != null && untilIdle.isZero()) {
            throw new ParameterException(spec.commandLine(), "--until-idle needs a time above zero");
        }
    }

    private int loadAndWait(Daemon daemon) {
        CleanUp cleanUp;
        try {
            tellOfDisk(daemon.layout().root());
            tellOfCapacity(daemon);
            tellOfLeftovers(daemon);
            offer(daemon);
            sayDone(load(daemon));
            cleanUp = daemon.awaitStop();
        } catch (RuntimeException | Error failure) {
            cleanUp = daemon.stop(keep);
            if (reported && failure instanceof LarderException known) {
                return known.rawCode();
            } else if (!FirstLoads.isStop(failure)) {
                throw failure;
            }
        }
        boolean kept = Files.exists(daemon.layout().data());
        tell(kept ? "The store is kept." : "Cleaned up: " + Outcome.freed(cleanUp));
        return detach && !isLeftAlone ? ErrorCode.INTERRUPTED.number() : 0;
    }

    private Loaded load(Daemon daemon) {
        if (sources.isEmpty()) {
            return new Loaded(0, Map.of(), List.of());
        }
        LoadRequest request = options.request(sources, larder.debug, StandardInput.open());
        Loaded loaded = load(daemon, request);
        loaded.failed().forEach(this::tellOfFailure);
        return loaded;
    }

    private void tellOfFailure(String dataset, LarderException failure) {
        if (logging.isJson()) {
            log().error("not loaded: {}: {}", dataset, failure.getMessage());
        } else if (!json) { // else it is an event already
            larder.err().println("larder: not loaded: " + dataset);
            FailureReport.report(failure, larder.debug, larder.err());
        }
    }

    private Loaded load(Daemon daemon, LoadRequest request) {
        long datasets = request.sources().stream()
                .map(LoadRequest.Source::name)
                .distinct()
                .count();
        try (ProgressDisplay display =
                logging.isJson() && !json ? ProgressDisplay.none() : ProgressDisplay.on(larder.err(), json)) {
            FirstLoads loads = new FirstLoads(daemon, display);
            if (!strictLoads) {
                return new Loaded(datasets, loads.loadWhatLoads(request), loads.forgotten());
            }
            try {
                loads.loadAll(request);
                return new Loaded(datasets, Map.of(), List.of());
            } catch (LarderException e) {
                reported = !FirstLoads.isStop(e) && display.problem(e);
                throw e;
            }
        }
    }

    /** The number of datasets to load, those that failed, and those of them that a reload cannot load. */
    private record Loaded(long datasets, Map<String, LarderException> failed, List<String> forgotten) {
        @Override
        public String toString() {
            if (failed.isEmpty()) {
                return "Done caching.";
            }
            String again =
                    forgotten.isEmpty() ? "" : ", larder load with its address for: " + String.join(", ", forgotten);
            return "Done caching: " + (datasets - failed.size()) + " of " + datasets + " datasets; not loaded: "
                    + String.join(", ", failed.keySet())
                    + "; larder reload NAME tries again, larder load NAME=PATH another path" + again + ".";
        }
    }

    private void sayDone(Loaded loaded) {
        if (detach) {
            tell(loaded + " larder stop cleans up.");
            larder.out().flush();
            DetachedProcess.reportReady();
            isLeftAlone = true;
        } else {
            tell(loaded + " Ctrl+C to clean up.");
        }
    }

    /** Prints a line, or logs it if the log is JSON: collectors read standard output and standard error as one. */
    private void tell(String line) {
        if (logging.isJson()) {
            log().info(line);
        } else {
            larder.out().println(line);
        }
    }
}
