package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.StoreReport.State;
import dev.larder.server.store.space.Space;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds and removes stores of daemons that died without cleaning up.
 *
 * <p>A store is in use while the lock on its {@code daemon.lock} is held. Pids are not compared: they mean nothing in another pid
 * namespace. A store is locked before it is removed, and reached through a descriptor of its folder, so that no process can put another
 * folder in its place.
 */
public final class Leftovers {
    private static final Logger LOG = LoggerFactory.getLogger(Leftovers.class);
    private static final String NAMES = "larder*";
    private static final int ROOT = 0;

    /** Stores with a younger lock file are skipped: a daemon may just be starting there. */
    private static final Duration SETTLED = Duration.ofMinutes(1);

    private Leftovers() {}

    /** Returns the entries of a folder that have the name of a store, sorted; empty if the folder cannot be read. */
    public static List<Path> candidates(Path folder) {
        TreeSet<Path> found = new TreeSet<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, NAMES)) {
            entries.forEach(found::add);
        } catch (IOException unreadable) {
            LOG.debug("cannot look for stores: folder={} reason={}", folder, unreadable.toString());
        }
        return new ArrayList<>(found);
    }

    /** Returns the state of a folder without changing it; empty if it is gone. */
    public static Optional<StoreReport> look(Path store) {
        return examine(store, folder -> folder.look());
    }

    /**
     * Removes the store of a dead daemon. With {@code evenIfKept}, also one that was left on purpose or holds data without a source.
     * Returns a report.
     */
    public static Optional<StoreReport> remove(Path store, boolean evenIfKept) {
        return examine(store, folder -> folder.remove(evenIfKept));
    }

    /** Returns the stores of dead daemons in the parent folder of a store, for the note at the start of a daemon. */
    public static List<StoreReport> deadNextTo(Path store) {
        Path folder = store.toAbsolutePath().getParent();
        List<StoreReport> dead = new ArrayList<>();
        for (Path candidate : folder == null ? List.<Path>of() : candidates(folder)) {
            if (!candidate.equals(store.toAbsolutePath()) && isSettled(candidate)) {
                look(candidate).filter(StoreReport::isOrphaned).ifPresent(dead::add);
            }
        }
        return dead;
    }

    private static boolean isSettled(Path store) {
        try {
            Instant written = Files.getLastModifiedTime(new StoreLayout(store).lock(), LinkOption.NOFOLLOW_LINKS)
                    .toInstant();
            return written.isBefore(Instant.now().minus(SETTLED));
        } catch (IOException noLock) {
            return false;
        }
    }

    /** An action on a store folder that is held open by a descriptor. */
    @FunctionalInterface
    private interface Look {
        StoreReport at(OrphanedStore folder) throws IOException;
    }

    private static Optional<StoreReport> examine(Path store, Look look) {
        Posix posix = Posix.system();
        if (!Files.isDirectory(store, LinkOption.NOFOLLOW_LINKS)) {
            return Files.exists(store, LinkOption.NOFOLLOW_LINKS)
                    ? Optional.of(StoreReport.leftAlone(store, State.NO_STORE, kindOf(store)))
                    : Optional.empty();
        }
        try {
            int descriptor = posix.openForReading(store);
            try {
                FileStatus folder = posix.status(descriptor);
                return Optional.of(
                        isForeign(folder, posix.userId())
                                ? foreign(store)
                                : look.at(new OrphanedStore(posix, store, descriptor, folder.uid())));
            } finally {
                posix.close(descriptor);
            }
        } catch (NoSuchFileException gone) {
            return Optional.empty();
        } catch (IOException e) {
            throw Space.failed("cannot clean up a store", store, e);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return Optional.empty();
            } else if (e.code() == ErrorCode.REFUSED) {
                return Optional.of(foreign(store));
            }
            throw e;
        }
    }

    private static boolean isForeign(FileStatus folder, int user) {
        return user != ROOT && folder.uid() != user;
    }

    private static StoreReport foreign(Path store) {
        String owner = "unknown";
        try {
            owner = Files.getOwner(store, LinkOption.NOFOLLOW_LINKS).getName();
        } catch (IOException e) {
            LOG.debug("cannot read the owner: store={} reason={}", store, e.toString());
        }
        return StoreReport.leftAlone(store, State.FOREIGN, "it belongs to another user: owner=" + owner);
    }

    private static String kindOf(Path path) {
        return Files.isSymbolicLink(path) ? "it is a symbolic link" : "it is a file";
    }
}
