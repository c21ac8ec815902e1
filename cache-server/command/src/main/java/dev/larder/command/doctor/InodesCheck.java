package dev.larder.command.doctor;

import dev.larder.internal.posix.FileSystemSpace;
import java.nio.file.Path;

/** Checks how many files the store's file system can still hold: each array that is not packed is a file. */
final class InodesCheck implements Check {
    private static final long FEW = 10_000;

    @Override
    public String name() {
        return "inodes";
    }

    @Override
    public Finding look(Machine machine) {
        Path place = machine.storePlace();
        FileSystemSpace space = machine.probes().space(place);
        if (space.totalFiles() == 0) {
            return Finding.ok(name(), "no limit");
        }
        String found = "free=" + space.freeFiles() + " limit=" + space.totalFiles();
        if (space.freeFiles() >= FEW) {
            return Finding.ok(name(), found);
        }
        String point =
                machine.mount(place).map(mount -> mount.point().toString()).orElse("/dev/shm");
        String remedy = "mount -o remount,nr_inodes=1m " + point + " (as root)";
        return space.freeFiles() == 0
                ? Finding.problem(name(), found + ": no file can be created", remedy)
                : Finding.warning(name(), found + ": a folder of many files may not fit", remedy);
    }
}
