package dev.larder.command.doctor;

import dev.larder.server.store.space.Mount;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Whether JNA can put its library where it wants it. */
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
                        "mounted noexec, so that no library can be loaded from it: folder=" + folder,
                        "export JAVA_TOOL_OPTIONS=-Djna.tmpdir=DIR, a folder on a mount without noexec")
                : Finding.ok(name(), "folder=" + folder);
    }

    /** Chooses as JNA does. It makes its folder in the cache where it can, and has been loaded by now. */
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
