package dev.larder.distributed.region;

import dev.larder.internal.protocol.RegionRow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The provider of regions: the daemon of a store, or a folder in tests. Thread-safe. */
interface RegionSource {
    /** Returns the file with the locks of regions. */
    Path locks();

    /** Creates a region of zeros unless one has this name, and describes the existing one. */
    RegionRow create(RegionSpec spec, Duration timeLeft);

    Optional<RegionRow> find(String name, Duration timeLeft);

    List<RegionRow> list();

    /** Removes the name if a region of this id has it. */
    void remove(String name, long id);

    /** Opens the memory of a region for reading and writing; -1 if it is gone. The caller closes it. */
    int open(RegionRow row);
}
