package dev.larder.command.doctor;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.posix.FileSystemSpace;
import dev.larder.internal.posix.HugePages;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.server.store.Leftovers;
import dev.larder.server.store.StoreReport;
import dev.larder.server.store.StoreReport.State;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Probes the machine of this process. */
public final class LiveProbes implements Probes {
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    @Override
    public FileSystemSpace space(Path path) {
        return Posix.system().space(path);
    }

    @Override
    public String reason(Path store) {
        return StoreLocation.reason(store);
    }

    @Override
    public Optional<String> smallMemory(Path store) {
        return StoreLocation.smallMemory(store);
    }

    @Override
    public boolean hasLibrary(String name) {
        return SharedLibraries.ofThisMachine().has(name);
    }

    @Override
    public String variable(String name) {
        String value = System.getenv(name);
        return value == null ? "" : value;
    }

    @Override
    public boolean givesHugePages() {
        return HugePages.areAvailable();
    }

    @Override
    public Optional<DaemonStatus> status(Path store) {
        try {
            return Optional.of(client(store).status());
        } catch (LarderException noDaemon) {
            return Optional.empty();
        }
    }

    @Override
    public boolean hasModule(String name) {
        return ModuleLayer.boot().findModule(name).isPresent();
    }

    @Override
    public List<StoreReport> leftovers(Path store) {
        Stream<Path> found = StoreLocation.PLACES.stream().flatMap(place -> Leftovers.candidates(place).stream());
        return Stream.concat(found, Stream.of(store.toAbsolutePath()))
                .distinct()
                .map(Leftovers::look)
                .flatMap(Optional::stream)
                .toList();
    }

    @Override
    public DeviceAnswer devices() {
        return DeviceQuestion.ofThisCommand().ask();
    }

    @Override
    public DaemonAnswer daemon(Path store) {
        try {
            String version = client(store).info().version();
            return isAnswering(store)
                    ? new DaemonAnswer(DaemonAnswer.State.RUNNING, version, "")
                    : new DaemonAnswer(DaemonAnswer.State.HANGING, hanging(store), "");
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_DAEMON && e.code() != ErrorCode.DEADLINE) {
                throw e;
            }
            boolean isAlive = e.code() == ErrorCode.DEADLINE
                    || Leftovers.look(store)
                            .filter(report -> report.state() == State.LIVE)
                            .isPresent();
            return new DaemonAnswer(
                    isAlive ? DaemonAnswer.State.SILENT : DaemonAnswer.State.NONE,
                    Finding.facts(e),
                    e.code() == ErrorCode.DEADLINE ? e.remedy() : "it may be starting or stopping");
        }
    }

    private static ControlClient client(Path store) {
        return ControlClient.at(store).patientFor(PATIENCE).answeredWithin(PATIENCE);
    }

    /** Returns whether a worker responds: the control thread responds to a greeting without one. */
    private static boolean isAnswering(Path store) {
        try {
            client(store).status();
            return true;
        } catch (LarderException e) {
            if (e.code() == ErrorCode.DEADLINE) {
                return false;
            }
            throw e;
        }
    }

    /** Returns the requests that hang, with the stack traces of their threads; only the owner sees them. */
    private static String hanging(Path store) {
        try {
            String late = client(store).errors().stream()
                    .filter(ErrorRow::isLate)
                    .map(row -> row.message() + "\n" + row.trace().strip())
                    .collect(Collectors.joining("\n"));
            return late.isEmpty() ? "waitedMs=" + PATIENCE.toMillis() : late;
        } catch (LarderException e) {
            return "waitedMs=" + PATIENCE.toMillis() + " reason=" + e.getMessage();
        }
    }
}
