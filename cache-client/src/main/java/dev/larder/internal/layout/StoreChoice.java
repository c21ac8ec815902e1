package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.internal.layout.StoreLocation.Caller;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Chooses a store for a process that names none: the first trusted store with a live daemon, else the first trusted store, else
 * a new store at a free path of the user: in shared memory, or on a disk if shared memory is small, as in most containers. Any
 * user can create a folder in these places, so it skips untrusted folders.
 */
final class StoreChoice {
    /** The folders already logged, so that each process logs each skipped folder once. */
    private static final Set<Path> LOGGED = ConcurrentHashMap.newKeySet();

    private StoreChoice() {}

    /** Returns the choice for a process, and logs each folder that it skips. */
    static Path of(Caller caller) {
        Choice choice = among(caller);
        for (Skipped skipped : choice.skipped()) {
            if (LOGGED.add(skipped.folder())) {
                Logs.of(StoreChoice.class).warn("a store is skipped: store={} {}", skipped.folder(), skipped.reason());
            }
        }
        if (choice.store() == null) {
            throw Failure.of(ErrorCode.REFUSED, "no default store can be used")
                    .with("user", caller.name())
                    .with(
                            "skipped",
                            choice.skipped().stream().map(Skipped::folder).toList())
                    .remedy("apply the remedy in one of the warnings, or " + StoreLocation.NAME_YOUR_OWN);
        }
        return choice.store();
    }

    /**
     * A store, and the folders that were skipped before it.
     *
     * @param store the store to use, which may not exist yet; null if all paths of the user are taken
     * @param reason why it was chosen, for people
     */
    record Choice(@Nullable Path store, String reason, List<Skipped> skipped) {}

    /** An untrusted folder and the reason. */
    record Skipped(Path folder, String reason) {}

    static Choice among(Caller caller) {
        List<Path> trusted = new ArrayList<>();
        List<Skipped> skipped = new ArrayList<>();
        for (Path folder : caller.defaultStores()) {
            if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
                continue;
            }
            String objection = objection(folder, caller);
            if (objection != null) {
                skipped.add(new Skipped(folder, objection));
            } else if (StoreLocation.hasDaemon(folder)) {
                return new Choice(folder, "its daemon runs", skipped);
            } else {
                trusted.add(folder);
            }
        }
        return trusted.isEmpty() ? newStore(caller, skipped) : new Choice(trusted.get(0), "it exists", skipped);
    }

    /** Chooses a free path, of a writable place if there is one. A container may have a read-only root. */
    private static Choice newStore(Caller caller, List<Skipped> skipped) {
        @Nullable Path store = Stream.concat(caller.writablePlaces().stream(), caller.places().stream())
                .map(caller::ownStore)
                .filter(path ->
                        !Files.exists(path, LinkOption.NOFOLLOW_LINKS) && Files.isDirectory(path.resolveSibling("")))
                .findFirst()
                .orElse(null);
        Optional<String> sizes = store == null ? Optional.empty() : caller.smallMemory(store);
        return new Choice(store, sizes.orElse("no store exists"), skipped);
    }

    private static @Nullable String objection(Path folder, Caller caller) {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return "reason=it is not a folder";
        }
        StoreOwner owner = StoreOwner.of(folder);
        if (!caller.trusts(folder, owner)) {
            return "owner=" + owner.user() + " reason=it belongs to another user; " + caller.remedyFor(folder, owner);
        } else if (owner.isWritableByOthers()) {
            return "owner=" + owner.user() + " reason=other users can write to it; chmod go-w " + folder;
        } else if (!Files.isExecutable(folder)) {
            return "owner=" + owner.user() + " reason=it is closed to this user; " + caller.remedyFor(folder, owner);
        }
        return null;
    }
}
