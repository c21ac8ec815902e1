package dev.larder.command;

import dev.larder.command.doctor.Examination;
import dev.larder.command.doctor.Finding;
import dev.larder.command.doctor.LiveProbes;
import dev.larder.command.doctor.Machine;
import dev.larder.command.doctor.Severity;
import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import dev.larder.command.output.Units;
import dev.larder.internal.layout.StoreLocation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Tells what on this machine keeps Larder from working well. */
@Command(
        name = "doctor",
        description = {
            "Find what on this machine stops Larder or slows it down, and print the remedies.",
            "Changes nothing. The exit code is 1 where there is a problem, else 0."
        })
final class Doctor implements Callable<Integer> {
    private static final long UNKNOWN_USER = 65_534;

    @ParentCommand
    LarderCommand larder;

    @Option(names = "--json", description = "Print one JSON list.")
    boolean json;

    @Override
    public Integer call() {
        List<Finding> findings = Examination.of(thisMachine());
        if (json) {
            larder.out().println(json(findings));
        } else {
            findings.forEach(this::print);
        }
        return findings.stream().anyMatch(finding -> finding.severity() == Severity.PROBLEM) ? 1 : 0;
    }

    private Machine thisMachine() {
        return new Machine(
                Path.of("/"),
                larder.store(),
                StoreLocation.userName(),
                userId(),
                System::getProperty,
                new LiveProbes(),
                Units::size);
    }

    /** Asks the JDK, as the native library may be what is amiss. */
    private static long userId() {
        try {
            return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException e) {
            return UNKNOWN_USER;
        }
    }

    private void print(Finding finding) {
        larder.out().printf("%-8s %-17s %s%n", word(finding.severity()), finding.check(), finding.found());
        if (!finding.remedy().isEmpty()) {
            larder.out().printf("%-8s %-17s   do: %s%n", "", "", finding.remedy());
        }
    }

    private static String word(Severity severity) {
        return severity.name().toLowerCase(Locale.ROOT);
    }

    private static String json(List<Finding> findings) {
        return Json.document(findings.stream()
                .map(finding -> new JsonFields()
                        .with("check", finding.check())
                        .with("severity", word(finding.severity()))
                        .with("found", finding.found())
                        .with("remedy", finding.remedy()))
                .toList());
    }
}
