package dev.larder.command.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Checks whether systemd removes this user's files in {@code /dev/shm} when the last session ends. */
final class RemoveIpcCheck implements Check {
    private static final String KEY = "RemoveIPC=";
    private static final String MAIN = "/etc/systemd/logind.conf";

    /** In rising order of precedence. */
    private static final List<String> FOLDERS =
            List.of("/usr/lib/systemd/logind.conf.d", "/run/systemd/logind.conf.d", "/etc/systemd/logind.conf.d");

    private static final long USUAL_SYSTEM_UID_LIMIT = 999;

    @Override
    public String name() {
        return "remove-ipc";
    }

    @Override
    public Finding look(Machine machine) {
        if (!machine.has("/run/systemd/system")) {
            return Finding.ok(name(), "systemd does not run here");
        } else if (!isOn(machine)) {
            return Finding.ok(name(), "RemoveIPC=no");
        } else if (machine.uid() <= systemUidLimit(machine)) {
            return Finding.ok(name(), "RemoveIPC=yes, but not for system users: uid=" + machine.uid());
        } else if (machine.has("/var/lib/systemd/linger/" + machine.user())) {
            return Finding.ok(name(), "RemoveIPC=yes, but the user lingers: user=" + machine.user());
        } else if (!machine.store().startsWith("/dev/shm")) {
            return Finding.ok(name(), "RemoveIPC=yes, but the store is not in /dev/shm");
        }
        return Finding.warning(
                name(),
                "RemoveIPC=yes: the store vanishes when the last session of the user ends: user=" + machine.user()
                        + " uid=" + machine.uid(),
                "loginctl enable-linger " + machine.user() + " (or RemoveIPC=no in " + MAIN
                        + ", then systemctl restart systemd-logind)");
    }

    private static boolean isOn(Machine machine) {
        List<String> files = new ArrayList<>(List.of(MAIN));
        for (String folder : FOLDERS) {
            machine.names(folder, ".conf").forEach(file -> files.add(folder + "/" + file));
        }
        String value = "yes";
        for (String file : files) {
            for (String line : machine.lines(file)) {
                if (line.strip().startsWith(KEY)) {
                    value = line.strip().substring(KEY.length()).strip();
                }
            }
        }
        return List.of("yes", "true", "on", "1").contains(value.toLowerCase(Locale.ROOT));
    }

    private static long systemUidLimit(Machine machine) {
        return machine.lines("/etc/login.defs").stream()
                .map(line -> line.strip().split("\\s+"))
                .filter(words -> words.length >= 2 && words[0].equals("SYS_UID_MAX") && words[1].matches("\\d{1,9}"))
                .mapToLong(words -> Long.parseLong(words[1]))
                .findFirst()
                .orElse(USUAL_SYSTEM_UID_LIMIT);
    }
}
