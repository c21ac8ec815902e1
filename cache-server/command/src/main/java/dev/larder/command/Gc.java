package dev.larder.command;

import dev.larder.command.output.Json;
import dev.larder.command.output.Outcome;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.server.store.Leftovers;
import dev.larder.server.store.StoreReport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Removes the stores of dead daemons. */
@Command(
        name = "gc",
        description = {
            "Remove stores of daemons that died without cleaning up: the one that --store names, or those named larder*"
                    + " in /dev/shm and /var/tmp, and $$LARDER_STORE. Root removes those of all users.",
            "A store with a live daemon is never touched, nor anything that is not a store. A store that was kept on"
                    + " purpose (serve --keep) or holds computed data, which has no source, is removed only with"
                    + " --kept. Files that are still read are unlinked too; their memory is freed when the readers"
                    + " end."
        })
final class Gc implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Option(names = "--dry-run", description = "Only print what would be removed.")
    boolean dryRun;

    @Option(
            names = "--kept",
            description = "Also remove stores that were kept on purpose, and computed data that has no source.")
    boolean kept;

    @Option(names = "--under", paramLabel = "DIR", description = "Look for stores named larder* in this folder.")
    @Nullable
    Path folder;

    @Option(names = "--json", description = "Print one JSON list.")
    boolean json;

    @Override
    public Integer call() {
        if (folder != null && !Files.isDirectory(folder)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the folder does not exist")
                    .with("under", folder)
                    .remedy("name the folder that has the stores");
        }
        List<StoreReport> reports = new ArrayList<>();
        List<LarderException> failures = new ArrayList<>();
        for (Path candidate : candidates()) {
            try {
                Optional<StoreReport> report = dryRun ? Leftovers.look(candidate) : Leftovers.remove(candidate, kept);
                report.ifPresent(reports::add);
            } catch (LarderException e) { // the others should not stay for it
                failures.add(e);
            }
        }
        print(reports);
        for (LarderException failure : failures.subList(0, Math.max(0, failures.size() - 1))) {
            FailureReport.report(failure, larder.debug, larder.err());
        }
        if (!failures.isEmpty()) {
            throw failures.get(failures.size() - 1);
        }
        return 0;
    }

    private Set<Path> candidates() {
        Set<Path> candidates = new TreeSet<>();
        if (folder != null) {
            candidates.addAll(Leftovers.candidates(folder.toAbsolutePath()));
        } else if (larder.store == null) {
            StoreLocation.PLACES.forEach(place -> candidates.addAll(Leftovers.candidates(place)));
        }
        if (larder.store != null || System.getenv(StoreLocation.STORE_VARIABLE) != null) {
            candidates.add(larder.store());
        }
        return candidates;
    }

    private void print(List<StoreReport> reports) {
        if (json) {
            larder.out().println(Json.stores(reports));
        } else {
            reports.forEach(report -> larder.out().println(line(report)));
            larder.out().println(total(reports));
        }
    }

    private static String line(StoreReport report) {
        String state = report.state().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        StringBuilder line = new StringBuilder(String.format("%-9s%s", state, report.store()));
        if (report.files() > 0) {
            line.append("  ").append(Outcome.freed(report));
        }
        if (!report.leased().isEmpty()) {
            line.append(" leased=").append(String.join(",", report.leased()));
        }
        return report.detail().isEmpty()
                ? line.toString()
                : line.append("  (").append(report.detail()).append(')').toString();
    }

    private String total(List<StoreReport> reports) {
        List<StoreReport> counted = reports.stream().filter(this::isCounted).toList();
        long files = counted.stream().mapToLong(StoreReport::files).sum();
        long bytes = counted.stream().mapToLong(StoreReport::bytes).sum();
        return (dryRun ? "To be removed: " : "Removed: ") + "stores=" + counted.size() + " "
                + Outcome.counted(files, bytes);
    }

    private boolean isCounted(StoreReport report) {
        return switch (report.state()) {
            case REMOVED -> true;
            case DEAD -> dryRun;
            case KEPT, COMPUTED -> dryRun && kept;
            default -> false;
        };
    }

    /** Returns one line about stores of dead daemons in the same folder; empty if there are none. */
    static Optional<String> noteOfLeftovers(Path store) {
        List<StoreReport> dead = Leftovers.deadNextTo(store);
        return dead.isEmpty()
                ? Optional.empty()
                : Optional.of("stores of dead daemons are beside this one: stores=" + dead.size() + " "
                        + Outcome.counted(
                                dead.stream().mapToLong(StoreReport::files).sum(),
                                dead.stream().mapToLong(StoreReport::bytes).sum())
                        + "; " + removingCommand(store) + " removes them, except for computed data");
    }

    private static String removingCommand(Path store) {
        Path folder = store.toAbsolutePath().getParent();
        return folder == null || StoreLocation.PLACES.contains(folder) ? "larder gc" : "larder gc --under " + folder;
    }
}
