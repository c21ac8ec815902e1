package dev.larder.internal.error;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Remedies that several messages share. */
public final class Remedy {
    /** For a store without a daemon. */
    public static final String START_DAEMON = "start a daemon: larder serve --detach --load NAME=PATH";

    /** For a store without a daemon, which may be the wrong store. */
    public static final String START_DAEMON_OR_NAME_STORE =
            START_DAEMON + ", or name another store: --store DIR, Larder.connect(Path) in Java, or $LARDER_STORE";

    /** For a daemon that may have ended during a call. */
    public static final String CHECK_DAEMON = "check whether the daemon still runs: larder status";

    /** For a full mount. A dataset without a source is lost when it is evicted. */
    public static final String FREE_SPACE =
            "evict datasets that have a source, or use a larger mount (size=, nr_inodes=)";

    private Remedy() {}

    /** For damaged or missing files of a dataset. A computed dataset has no source to reload. */
    public static String reload(String dataset) {
        return "larder reload " + dataset + ", or load or compute it again";
    }

    /** For damaged or missing files in the folder of a version. The folder above it has the name of the dataset. */
    public static String reload(@Nullable Path version) {
        Path dataset = version == null ? null : version.getParent();
        return reload(dataset == null ? "DATASET" : String.valueOf(dataset.getFileName()));
    }
}
