package dev.larder.command;

import dev.larder.command.doctor.Examination;
import dev.larder.command.doctor.Finding;
import dev.larder.command.doctor.Machine;
import dev.larder.command.doctor.Severity;
import dev.larder.command.output.Json;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Reports problems of this machine that stop Larder or slow it down. */
@Command(
        name = "doctor",
        description = {
            "Find what on this machine stops Larder or slows it down, and print the remedies.",
            "Changes nothing. The exit code is 1 where there is a problem, else 0."
        })
final class Doctor implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Option(names = "--json", description = "Print one JSON list.")
    boolean json;

    @Override
    public Integer call() {
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

    private void print(Finding finding) {
        larder.out().printf("%-8s %-17s %s%n", finding.severityWord(), finding.check(), finding.found());
        if (!finding.remedy().isEmpty()) {
            larder.out().printf("%-8s %-17s   do: %s%n", "", "", finding.remedy());
        }
    }
}
