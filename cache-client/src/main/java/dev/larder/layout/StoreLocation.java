package dev.larder.layout;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides which store a process means: the one it names, else {@code $LARDER_STORE}, else the user's own
 * {@code /dev/shm/larder-<user>} if it exists, else a service's {@code /dev/shm/larder} if readable, else the user's own.
 */
public final class StoreLocation {
    /** The environment variable that names a store. */
    public static final String STORE_VARIABLE = "LARDER_STORE";

    /** The environment variable that names the user whose service store is trusted besides one's own. */
    public static final String SERVICE_USER_VARIABLE = "LARDER_SERVICE_USER";

    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    private StoreLocation() {}

    /** Finds the store for this process, from its environment and user, where {@code named} is null. */
    public static Path resolve(@Nullable Path named) {
        return resolve(named, System.getenv(), SHARED_MEMORY, System.getProperty("user.name", "unknown"));
    }

    static Path resolve(@Nullable Path named, Map<String, String> environment, Path sharedMemory, String user) {
        if (named != null) {
            return named.toAbsolutePath().normalize();
        }
        String variable = environment.get(STORE_VARIABLE);
        if (variable != null && !variable.isEmpty()) {
            return Path.of(variable).toAbsolutePath().normalize();
        }
        Path own = sharedMemory.resolve("larder-" + user);
        Path service = sharedMemory.resolve("larder");
        return !Files.isDirectory(own) && Files.isReadable(service) ? service : own;
    }

    /**
     * Refuses a store that belongs to neither this user nor the service user named in the environment: whoever owns it could
     * have planted what it holds.
     */
    public static void requireTrustedOwner(Path store) {
        requireTrustedOwner(store, System.getenv());
    }

    static void requireTrustedOwner(Path store, Map<String, String> environment) {
        int user = Posix.system().userId();
        Map<String, Object> attributes = attributes(store);
        String owner = String.valueOf(attributes.get("owner"));
        if (!Integer.valueOf(user).equals(attributes.get("uid"))
                && !owner.equals(environment.get(SERVICE_USER_VARIABLE))) {
            throw Failure.of(ErrorCode.REFUSED, "the store belongs to another user")
                    .with("store", store)
                    .with("owner", owner)
                    .with("uid", user)
                    .remedy("name a store of your own with --store, or trust that owner with " + SERVICE_USER_VARIABLE);
        }
    }

    private static Map<String, Object> attributes(Path store) {
        try {
            return Files.readAttributes(store, "unix:uid,owner", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.REFUSED, "cannot tell who owns the store")
                    .with("store", store)
                    .with("reason", e)
                    .cause(e)
                    .exception();
        }
    }
}
