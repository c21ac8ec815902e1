package dev.larder.command.doctor;

import dev.larder.error.LarderException;
import java.util.List;
import java.util.Set;

/** Runs all checks, one after the other. */
public final class Examination {
    private static final List<Check> CHECKS = List.of(
            new MountCheck(),
            new MountNamespaceCheck(),
            new InodesCheck(),
            new HugePagesCheck(),
            new MemoryLimitCheck(),
            new OpenFilesCheck(),
            new MappingsCheck(),
            new LockedMemoryCheck(),
            new RemoveIpcCheck(),
            new SwapCheck(),
            new MemoryNodesCheck(),
            new SocketPathCheck(),
            new DaemonCheck(),
            new LeftoversCheck(),
            new JavaCheck(),
            new TemporaryFolderCheck(),
            new OpenClCheck());

    /** Checks that call the daemon, or start a program. */
    private static final Set<Class<?>> COSTLY = Set.of(DaemonCheck.class, OpenClCheck.class);

    private Examination() {}

    /** Returns one finding for each check. A failed check is a finding, and does not stop the others. */
    public static List<Finding> of(Machine machine) {
        return CHECKS.stream().map(check -> look(check, machine)).toList();
    }

    /** Returns the findings of the checks that only read a few files. The daemon repeats them from time to time. */
    public static List<Finding> ofCheap(Machine machine) {
        return CHECKS.stream()
                .filter(check -> !COSTLY.contains(check.getClass()))
                .map(check -> look(check, machine))
                .toList();
    }

    static Finding look(Check check, Machine machine) {
        try {
            return check.look(machine);
        } catch (LarderException e) {
            return Finding.problem(
                    check.name(), Finding.facts(e), e.remedy().isEmpty() ? "see the message" : e.remedy());
        } catch (RuntimeException e) {
            return Finding.warning(
                    check.name(), "cannot be determined: exception=" + e, "run larder doctor --debug, and report this");
        }
    }
}
