package dev.larder.command.doctor;

import dev.larder.command.doctor.Probes.DaemonAnswer;
import dev.larder.internal.protocol.ReleaseVersion;

/** Checks that a daemon of this release serves the store. */
final class DaemonCheck implements Check {
    @Override
    public String name() {
        return "daemon";
    }

    @Override
    public Finding look(Machine machine) {
        DaemonAnswer answer = machine.probes().daemon(machine.store());
        return switch (answer.state()) {
            case NONE -> Finding.info(name(), "none at the store: store=" + machine.store(), "larder serve");
            case SILENT ->
                Finding.problem(
                        name(),
                        "it holds the lock but does not respond: reason=" + answer.version(),
                        answer.remedy()
                                + "; if that does not help, kill -9 its process and run larder serve, which takes its data over");
            case HANGING ->
                Finding.problem(
                        name(),
                        "it accepts connections but does not respond to requests: " + answer.version(),
                        "if a stack trace waits for a file system, repair that; else larder stop --keep, or kill -9 its process, and"
                                + " run larder serve, which takes its data over");
            case RUNNING ->
                answer.version().equals(ReleaseVersion.text())
                        ? Finding.ok(name(), "version=" + answer.version())
                        : Finding.warning(
                                name(),
                                "it is of another release: version=" + answer.version() + " command="
                                        + ReleaseVersion.text(),
                                "larder stop --keep, then larder serve");
        };
    }
}
