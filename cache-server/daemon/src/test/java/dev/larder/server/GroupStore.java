package dev.larder.server;

import dev.larder.testing.ChildJvm;
import dev.larder.testing.Folders;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/** A store of a user of its own, who may share it with a group; each user acts in processes of its own, by {@link MemberProgram}. */
final class GroupStore implements AutoCloseable {
    static final String GROUP = "games";
    static final int GROUP_ID = 60;
    static final String QUOTA = Long.toString(8 << 20);
    private static final String CAPACITY = Long.toString(40 << 20);

    private final ServedStore served;
    private final String classPath;
    private final Path sources = LeavesNothingBehind.newFolder();
    private final List<ChildJvm> children = new ArrayList<>();

    /** Gives the store to its owner; the class path must be readable for all users. */
    GroupStore(ServedStore served, String classPath) throws IOException {
        this.served = served;
        this.classPath = classPath;
        StoreUser.OWNER.user().own(Files.createDirectories(served.root()));
        Files.setPosixFilePermissions(sources, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    ServedStore served() {
        return served;
    }

    /** Starts a daemon of the owner, for him alone or for a group. */
    ChildJvm start(String... group) {
        List<String> arguments = new ArrayList<>(List.of(served.root().toString(), CAPACITY));
        if (group.length > 0) {
            arguments.addAll(List.of(group[0], QUOTA));
        }
        ChildJvm child = start(StoreUser.OWNER, DaemonProgram.class, arguments);
        child.awaitLine(DaemonProgram.READY);
        return child;
    }

    /** Starts what a user does. */
    ChildJvm launch(StoreUser user, String... actions) {
        List<String> arguments = new ArrayList<>(List.of(served.root().toString()));
        arguments.addAll(List.of(actions));
        return start(user, MemberProgram.class, arguments);
    }

    private ChildJvm start(StoreUser user, Class<?> main, List<String> arguments) {
        ChildJvm child = user.user().start(classPath, main, arguments.toArray(String[]::new));
        children.add(child);
        return child;
    }

    /** Returns what a user is answered, one line for each action. */
    List<String> ask(StoreUser user, String... actions) {
        ChildJvm child = launch(user, actions);
        List<String> answers = new ArrayList<>();
        for (int i = 0; i < actions.length; i++) {
            answers.add(child.awaitLine());
        }
        child.awaitExit();
        return answers;
    }

    /** Writes an array that only one user can read. */
    Path source(StoreUser user, String name, int value) {
        return hidden(user, ServedStore.writeInts(sources.resolve(user + "/" + name + ".npy"), value, value));
    }

    /** Writes an array of bytes that only one user can read. */
    Path largeSource(StoreUser user, int length) {
        return hidden(user, ServedStore.writeBytes(sources.resolve(user + "/large.npy"), length));
    }

    private static Path hidden(StoreUser user, Path file) {
        try {
            Files.setPosixFilePermissions(user.user().own(file), PosixFilePermissions.fromString("r--------"));
            Files.setPosixFilePermissions(
                    user.user().own(file.resolveSibling("")), PosixFilePermissions.fromString("rwx------"));
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        children.forEach(ChildJvm::close);
        Folders.remove(sources);
    }
}
