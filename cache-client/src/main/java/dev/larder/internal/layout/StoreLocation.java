package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.StoreChoice.Choice;
import dev.larder.internal.posix.MemoryGroup;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the store of a process: the named one, else {@code $LARDER_STORE}, else the choice among the default places; see
 * {@link StoreChoice}.
 */
public final class StoreLocation {
    /** The environment variable that names a store. */
    public static final String STORE_VARIABLE = "LARDER_STORE";

    /** The environment variable that names the user whose service store is trusted in addition to the process's own. */
    public static final String SERVICE_USER_VARIABLE = "LARDER_SERVICE_USER";

    /** The folders in which Larder looks for unnamed stores, in order of preference. */
    public static final List<Path> PLACES = List.of(Path.of("/dev/shm"), Path.of("/var/tmp"));

    private static final Path CONFIGURATION = Path.of("/etc/larder.conf");
    private static final Pattern SERVICE_USER_LINE = Pattern.compile("\\s*service-user\\s*=\\s*(?<user>\\S+)\\s*");
    static final String NAME_YOUR_OWN = "name a store of your own with --store or " + STORE_VARIABLE;
    private static final int ROOT = 0;

    /** Shared memory is small if it has less than one part in this many of the memory: a container's has 64 MiB. */
    private static final int SMALL_PART = 8;

    /** System accounts have lower user ids. */
    private static final int FIRST_ORDINARY_USER = 1000;

    private StoreLocation() {}

    /** Returns the best folder for stores that this process can write to; that of temporary files if it can write to none. */
    public static Path writablePlace() {
        return Caller.ofThisProcess().writablePlaces().stream()
                .findFirst()
                .orElse(Path.of(System.getProperty("java.io.tmpdir")));
    }

    /** Returns {@code named}, or finds the store from this process's environment and user if it is null. */
    public static Path resolve(@Nullable Path named) {
        return resolve(named, Caller.ofThisProcess());
    }

    /** Returns why this process uses a store, for people. */
    public static String reason(Path store) {
        Caller caller = Caller.ofThisProcess();
        if (store.equals(caller.namedByVariable())) {
            return STORE_VARIABLE + " names it";
        }
        Choice choice = StoreChoice.among(caller);
        return store.equals(choice.store()) ? choice.reason() : "--store names it";
    }

    /** Returns the sizes, for people, if this is the store of this user on a disk because shared memory is small. */
    public static Optional<String> smallMemory(Path store) {
        return Caller.ofThisProcess().smallMemory(store);
    }

    static Path resolve(@Nullable Path named, Caller caller) {
        if (named != null) {
            return named.toAbsolutePath().normalize();
        }
        Path variable = caller.namedByVariable();
        return variable == null ? StoreChoice.of(caller) : variable;
    }

    /**
     * Returns the name of this process's user, or its number if it has no name, as in many containers. The JDK returns "?"
     * then, which would make all such users share one store and differ from Python.
     */
    public static String userName() {
        return userName(
                System.getProperty("user.name"), Credentials.ofThisProcess().uid());
    }

    static String userName(@Nullable String name, int uid) {
        return name == null || name.isBlank() || name.equals("?") ? Integer.toUnsignedString(uid) : name;
    }

    /**
     * Refuses a store whose owner could have planted its contents. It trusts this user, the service user from the environment
     * or {@code /etc/larder.conf}, and an owner who opened a store that the caller named to this process's group. An unnamed
     * store is trusted only if its owner is this user or a service, because any user may have created it in a default place.
     * Also refuses a store that this process cannot read.
     */
    public static void requireTrustedOwner(Path store) {
        requireTrustedOwner(store, Caller.ofThisProcess());
    }

    static void requireTrustedOwner(Path store, Caller caller) {
        StoreOwner owner = StoreOwner.of(store);
        if (!caller.trusts(store, owner)) {
            throw refused(store, owner, caller).remedy(caller.remedyFor(store, owner));
        } else if (Files.isDirectory(store) && !Files.isExecutable(store)) {
            throw Failure.of(ErrorCode.REFUSED, "the store is closed to this user")
                    .with("store", store)
                    .with("owner", owner.user())
                    .with("user", caller.name())
                    .with("uid", caller.uid())
                    .remedy(caller.remedyFor(store, owner));
        }
    }

    /** Refuses a store with an untrusted owner, and reports a folder that is no store with NO_DAEMON. */
    public static void requireStore(StoreLayout layout) {
        if (Files.exists(layout.root(), LinkOption.NOFOLLOW_LINKS)) {
            requireTrustedOwner(layout.root());
        }
        if (!Files.isDirectory(layout.data(), LinkOption.NOFOLLOW_LINKS)) {
            throw Failure.of(ErrorCode.NO_DAEMON, "no daemon at the store")
                    .with("store", layout.root())
                    .remedy(Remedy.START_DAEMON_OR_NAME_STORE);
        }
    }

    /** Refuses to serve a store that belongs to another user, even if this user can read it. */
    public static void requireOwn(Path store) {
        Caller caller = Caller.ofThisProcess();
        StoreOwner owner = StoreOwner.of(store);
        if (!caller.isOwnOrService(owner)) {
            throw refused(store, owner, caller).remedy(NAME_YOUR_OWN);
        }
    }

    /**
     * Returns whether a daemon serves a store: its socket accepts a connection, even if the daemon is stopped. Unlike the lock file, members
     * of a group can reach the socket. Does not wait.
     */
    public static boolean hasDaemon(Path store) {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.configureBlocking(false);
            channel.connect(UnixDomainSocketAddress.of(new StoreLayout(store).socket()));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns whether a store belongs to another user who lets this process in. Root counts as every owner. */
    public static boolean belongsToAnotherUser(Path store) {
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
     * The user of a store.
     *
     * @param places the folders of the default stores; see {@link #PLACES}
     * @param memoryBytes returns how much memory the process may use
     */
    record Caller(
            int uid,
            String name,
            List<Integer> groups,
            Map<String, String> environment,
            List<Path> places,
            LongSupplier memoryBytes) {
        static Caller ofThisProcess() {
            Credentials credentials = Credentials.ofThisProcess();
            return new Caller(
                    credentials.uid(),
                    userName(),
                    credentials.groups(),
                    System.getenv(),
                    PLACES,
                    MemoryGroup::memoryBytes);
        }

        /** Returns the paths where a new store of this user can be created. */
        List<Path> ownStores() {
            return places.stream().map(this::ownStore).toList();
        }

        Path ownStore(Path place) {
            return place.resolve("larder-" + name);
        }

        /** Returns the places that this process can write to, the best one first: shared memory is the last one if it is small. */
        List<Path> writablePlaces() {
            List<Path> writable =
                    new ArrayList<>(places.stream().filter(Files::isWritable).toList());
            if (writable.remove(places.get(0))) {
                writable.add(smallMemory().isEmpty() ? 0 : writable.size(), places.get(0));
            }
            return writable;
        }

        /** Returns the sizes, for people, if a store is this user's on a disk and shared memory is small. */
        Optional<String> smallMemory(Path store) {
            return ownStores().indexOf(store) > 0 ? smallMemory() : Optional.empty();
        }

        /** A mount without a limit has the size 0. */
        private Optional<String> smallMemory() {
            long placeBytes = Files.isDirectory(places.get(0))
                    ? Posix.system().space(places.get(0)).totalBytes()
                    : 0;
            long memory = memoryBytes.getAsLong();
            return placeBytes > 0 && placeBytes < memory / SMALL_PART
                    ? Optional.of(places.get(0) + " is smaller than an eighth of the memory: bytes=" + placeBytes
                            + " memoryBytes=" + memory)
                    : Optional.empty();
        }

        /** Returns the paths of the default stores, the user's own before the service's. */
        List<Path> defaultStores() {
            return Stream.concat(ownStores().stream(), Stream.of(serviceStore()))
                    .toList();
        }

        private Path serviceStore() {
            return places.get(0).resolve("larder");
        }

        @Nullable
        Path namedByVariable() {
            String variable = environment.get(STORE_VARIABLE);
            return variable == null || variable.isEmpty()
                    ? null
                    : Path.of(variable).toAbsolutePath().normalize();
        }

        boolean trusts(Path store, StoreOwner owner) {
            return isOwnOrService(owner) || mayUse(store, owner);
        }

        /**
         * Returns the remedy. It names the group if joining it opens the store, because trusting the owner does not open a
         * folder of mode 2750.
         */
        String remedyFor(Path store, StoreOwner owner) {
            boolean isOpenToGroup = owner.isShared() && mayBeInvited(store, owner);
            if (isOpenToGroup) {
                return "ask to join its group and log in again: group=" + owner.group() + "; or " + NAME_YOUR_OWN;
            }
            return isOwnOrService(owner)
                    ? "ask its owner to let your group in (larder serve --group GROUP), or " + NAME_YOUR_OWN
                    : NAME_YOUR_OWN + ", or trust that owner with " + SERVICE_USER_VARIABLE;
        }

        private boolean isOwnOrService(StoreOwner owner) {
            String service = environment.get(SERVICE_USER_VARIABLE);
            return owner.uid() == uid || owner.user().equals(service == null ? configuredServiceUser() : service);
        }

        private boolean mayUse(Path store, StoreOwner owner) {
            boolean invited = owner.isShared() && (uid == ROOT || groups.contains(owner.gid()));
            return invited && mayBeInvited(store, owner);
        }

        /**
         * Returns whether the owner may have invited this process: the store was named, or its owner is a system account, which
         * no ordinary user can impersonate.
         */
        private boolean mayBeInvited(Path store, StoreOwner owner) {
            return isNamed(store) || (store.equals(serviceStore()) && owner.uid() < FIRST_ORDINARY_USER);
        }

        private boolean isNamed(Path store) {
            return store.equals(namedByVariable()) || !defaultStores().contains(store);
        }
    }

    /** Reads {@code service-user = NAME} from the machine's configuration. Returns null if there is none. */
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
