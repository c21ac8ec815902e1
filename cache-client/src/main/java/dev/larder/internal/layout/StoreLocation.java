package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
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
    private static final Path CONFIGURATION = Path.of("/etc/larder.conf");
    private static final Pattern SERVICE_USER_LINE = Pattern.compile("\\s*service-user\\s*=\\s*(?<user>\\S+)\\s*");
    private static final int ROOT = 0;

    /** System accounts have lower numbers. */
    private static final int FIRST_ORDINARY_USER = 1000;

    private StoreLocation() {}

    /** Finds the store for this process, from its environment and user, where {@code named} is null. */
    public static Path resolve(@Nullable Path named) {
        return resolve(named, System.getenv(), SHARED_MEMORY, userName());
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
     * Returns the name of this process's user, or its number where the system has no name for it, as in many containers. The JDK
     * says "?" there, which would be one store for all such users, and not the one that Python means.
     */
    public static String userName() {
        return userName(
                System.getProperty("user.name"), Credentials.ofThisProcess().uid());
    }

    static String userName(@Nullable String name, int uid) {
        return name == null || name.isBlank() || name.equals("?") ? Integer.toUnsignedString(uid) : name;
    }

    /**
     * Refuses a store whose owner could have planted what it holds: trusted are this user, the service user of the environment or
     * of {@code /etc/larder.conf}, and whoever opened to this process's group a store that the caller named. A store that nobody
     * named is trusted only where it is the caller's own or a service's: anybody may have put it where Larder looks by itself. A store of
     * theirs that lets this process in nowhere is refused too.
     */
    public static void requireTrustedOwner(Path store) {
        requireTrustedOwner(store, Caller.ofThisProcess());
    }

    static void requireTrustedOwner(Path store, Caller caller) {
        StoreOwner owner = StoreOwner.of(store);
        if (!caller.isOwnOrService(owner) && !caller.mayUse(store, owner)) {
            throw refused(store, owner, caller)
                    .remedy("name a store of your own with --store or " + STORE_VARIABLE + ", or trust that owner with "
                            + SERVICE_USER_VARIABLE);
        } else if (Files.isDirectory(store) && !Files.isExecutable(store)) {
            throw Failure.of(ErrorCode.REFUSED, "the store is closed to this user")
                    .with("store", store)
                    .with("owner", owner.user())
                    .with("user", caller.name())
                    .with("uid", caller.uid())
                    .remedy("ask its owner to let your group in (larder serve --group GROUP), or name a store of your"
                            + " own with --store or " + STORE_VARIABLE);
        }
    }

    /** Refuses to serve a store that belongs to another user, whoever may read it. */
    public static void requireOwn(Path store) {
        Caller caller = Caller.ofThisProcess();
        StoreOwner owner = StoreOwner.of(store);
        if (!caller.isOwnOrService(owner)) {
            throw refused(store, owner, caller).remedy("name a store of your own with --store or " + STORE_VARIABLE);
        }
    }

    /** Tells whether a store belongs to somebody else who lets this process in: root counts as every owner. */
    public static boolean isOfAnother(Path store) {
        int user = Posix.system().userId();
        return user != ROOT
                && Files.exists(store, LinkOption.NOFOLLOW_LINKS)
                && StoreOwner.of(store).uid() != user;
    }

    private static Failure refused(Path store, StoreOwner owner, Caller caller) {
        return Failure.of(ErrorCode.REFUSED, "the store belongs to another user")
                .with("store", store)
                .with("owner", owner.user())
                .with("ownerUid", owner.uid())
                .with("user", caller.name())
                .with("uid", caller.uid());
    }

    /**
     * Who wants to use a store.
     *
     * @param sharedMemory where Larder looks for stores that nobody named
     */
    record Caller(int uid, String name, List<Integer> groups, Map<String, String> environment, Path sharedMemory) {
        static Caller ofThisProcess() {
            Credentials credentials = Credentials.ofThisProcess();
            return new Caller(credentials.uid(), userName(), credentials.groups(), System.getenv(), SHARED_MEMORY);
        }

        private boolean isOwnOrService(StoreOwner owner) {
            String service = environment.get(SERVICE_USER_VARIABLE);
            return owner.uid() == uid || owner.user().equals(service == null ? configuredServiceUser() : service);
        }

        /** An ordinary user cannot have made a folder of root's or of a system account's; the one that was named is wanted. */
        private boolean mayUse(Path store, StoreOwner owner) {
            boolean invited = owner.isShared() && (uid == ROOT || groups.contains(owner.gid()));
            return invited && (isNamed(store) || (isServicePlace(store) && owner.uid() < FIRST_ORDINARY_USER));
        }

        private boolean isNamed(Path store) {
            String variable = environment.get(STORE_VARIABLE);
            boolean byVariable = variable != null
                    && !variable.isEmpty()
                    && store.equals(Path.of(variable).toAbsolutePath().normalize());
            return byVariable || !(isServicePlace(store) || store.equals(sharedMemory.resolve("larder-" + name)));
        }

        private boolean isServicePlace(Path store) {
            return store.equals(sharedMemory.resolve("larder"));
        }
    }

    /** Reads {@code service-user = NAME} from the machine's configuration; null where there is none. */
    private static @Nullable String configuredServiceUser() {
        try (Stream<String> lines = Files.lines(CONFIGURATION)) {
            return lines.map(SERVICE_USER_LINE::matcher)
                    .filter(Matcher::matches)
                    .map(line -> line.group("user"))
                    .findFirst()
                    .orElse(null);
        } catch (IOException | UncheckedIOException e) {
            return null;
        }
    }
}
