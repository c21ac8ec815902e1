package dev.larder.command;

import dev.larder.command.doctor.Examination;
import dev.larder.command.doctor.Finding;
import dev.larder.command.doctor.Machine;
import dev.larder.command.doctor.Severity;
import dev.larder.command.output.Json;
import dev.larder.command.output.LoaderTable;
import dev.larder.command.output.RunLoaders;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.loaders.LoaderRow;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Reports problems of this machine that stop Larder or slow it down, or the bottleneck of a run. */
@Command(
        name = "doctor",
        description = {
            "Find what on this machine stops Larder or slows it down, and print the remedies.",
            "With RUN: show how the trainers of this run spend their time, and the setting that makes them faster."
                    + " RUN is a feed, a dataset, the pid of a trainer, or the name of a launch or grid.",
            "Changes nothing. The exit code is 1 where there is a problem, else 0."
        })
final class Doctor implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(arity = "0..1", paramLabel = "RUN", description = "The run to look at for two seconds.")
    @Nullable
    String run;

    @Option(names = "--json", description = "Print one JSON list.")
    boolean json;

    @Override
    public Integer call() {
        if (run != null) {
            show(RunLoaders.of(new StoreLayout(larder.store()), run));
            return 0;
        }
        List<Finding> findings = Examination.of(Machine.here(larder.store()));
        if (json) {
            larder.out()
                    .println(
                            Json.document(findings.stream().map(Finding::fields).toList()));
        } else {
            findings.forEach(this::print);
        }
        return findings.stream().anyMatch(finding -> finding.severity() == Severity.PROBLEM) ? 1 : 0;
    }

    private void show(List<LoaderRow> loaders) {
        if (json) {
            larder.out()
                    .println(Json.document(
                            loaders.stream().map(LoaderTable::fields).toList()));
        } else {
            LoaderTable.lines(loaders, Integer.MAX_VALUE).forEach(larder.out()::println);
        }
    }

    private void print(Finding finding) {
        larder.out().printf("%-8s %-17s %s%n", finding.severityWord(), finding.check(), finding.found());
        if (!finding.remedy().isEmpty()) {
            larder.out().printf("%-8s %-17s   do: %s%n", "", "", finding.remedy());
        }
    }
}
