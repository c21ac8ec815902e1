package dev.larder.command.doctor;

import dev.larder.server.store.space.Mount;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Checks that JNA can load its library from the temporary folder. */
final class TemporaryFolderCheck implements Check {
    @Override
    public String name() {
        return "temporary-folder";
    }

    @Override
    public Finding look(Machine machine) {
        String folder = folder(machine);
        String options = machine.mount(Path.of(folder)).map(Mount::options).orElse("");
        return Arrays.asList(options.split(",", -1)).contains("noexec")
                ? Finding.problem(
                        name(),
                        "mounted noexec, so no library can be loaded from it: folder=" + folder,
                        "export JAVA_TOOL_OPTIONS=-Djna.tmpdir=DIR, a folder on a mount without noexec")
                : Finding.ok(name(), "folder=" + folder);
    }

    /** Chooses the folder as JNA does, which has created its folder in the cache by now if it can. */
    private static String folder(Machine machine) {
        String named = machine.property("jna.tmpdir");
        if (!named.isEmpty()) {
            return named;
        }
        String variable = machine.probes().variable("XDG_CACHE_HOME");
        String cache = variable.isBlank() ? machine.property("user.home") + "/.cache" : variable;
        String folder = Path.of(cache, "JNA", "temp").toAbsolutePath().toString();
        return Files.isWritable(machine.at(folder)) ? folder : machine.property("java.io.tmpdir");
    }
}
