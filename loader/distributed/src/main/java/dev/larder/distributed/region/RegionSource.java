package dev.larder.distributed.region;

import dev.larder.internal.protocol.RegionRow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Where regions come from: the daemon of a store, or a folder in tests. Thread-safe. */
interface RegionSource {
    /** Returns the file that locks of regions are taken of. */
    Path locks();

    /** Makes a region of zeros, unless one of this name is there; describes what is there then. */
    RegionRow create(RegionSpec spec, Duration timeLeft);

    Optional<RegionRow> find(String name, Duration timeLeft);

    List<RegionRow> list();

    /** Takes the name away where a region of this id has it. */
    void remove(String name, long id);

    /** Opens the memory of a region for reading and writing; -1 where there is none any more. The caller closes it. */
    int open(RegionRow row);
}
