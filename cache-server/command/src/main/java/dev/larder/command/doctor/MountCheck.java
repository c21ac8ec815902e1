package dev.larder.command.doctor;

import dev.larder.internal.posix.FileSystemSpace;
import dev.larder.server.store.space.Mount;
import java.nio.file.Path;
import java.util.Optional;

/** Checks the mount of the store and its free space, and names the reason why this store is used. */
final class MountCheck implements Check {
    private static final long CONTAINER_DEFAULT_BYTES = 64L << 20;
    private static final int SCARCE_PERCENT = 5;

    @Override
    public String name() {
        return "mount";
    }

    @Override
    public Finding look(Machine machine) {
        Path place = machine.storePlace();
        Optional<Mount> mount = machine.mount(place);
        String point = mount.map(m -> m.point().toString()).orElse("/");
        String type = mount.map(Mount::type).orElse("unknown");
        FileSystemSpace space = machine.probes().space(place);
        String found = "store=" + machine.store() + " reason="
                + machine.probes().reason(machine.store()) + " mount=" + point + " type=" + type + " size="
                + machine.size(space.totalBytes()) + " free=" + machine.size(space.freeBytes());
        boolean isMemory = type.equals("tmpfs");
        if (mount.map(Mount::isReadOnly).orElse(false)) {
            return Finding.problem(
                    name(),
                    found + ": read-only",
                    "mount -o remount,rw " + point + " (as root), or larder serve --store DIR on another mount");
        } else if (isMemory && space.totalBytes() <= CONTAINER_DEFAULT_BYTES) {
            return Finding.problem(name(), found + ": the default of containers, too little for data", enlarge(point) + "; or larder serve --store /var/tmp/larder-" + machine.user());
        } else if (space.freeBytes() <= space.totalBytes() / 100 * SCARCE_PERCENT) {
            return Finding.warning(
                    name(), found + ": nearly full", "larder gc; larder ls --all" + more(isMemory, point));
        } else if (!isMemory) {
            return onDisk(machine, found);
        }
        return Finding.ok(name(), found);
    }

    private Finding onDisk(Machine machine, String found) {
        Optional<String> smallMemory = machine.probes().smallMemory(machine.store());
        String why = smallMemory.map(sizes -> " (" + sizes + ")").orElse("");
        return Finding.info(
                name(),
                found + ": on a disk" + why + ", readers share its page cache, and pages may be dropped and read again",
                smallMemory.isPresent()
                        ? "nothing, or enlarge it before the first start: " + enlarge("/dev/shm")
                        : "larder serve --store /dev/shm/larder-" + machine.user());
    }

    private static String more(boolean isMemory, String point) {
        return isMemory ? "; " + enlarge(point) : "";
    }

    private static String enlarge(String point) {
        return "mount -o remount,size=75% " + point + " (as root; a container is started with" + " --shm-size=16g)";
    }
}
