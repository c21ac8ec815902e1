package dev.larder.internal.control;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.posix.MemoryPolicy;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Request.NewFile;
import dev.larder.internal.protocol.Request.PartOfColumn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The right to build a dataset, held for as long as a connection to the daemon is open. The caller closes it. If that is before
 * {@link #publish} has returned, the daemon removes the files and the next client has its turn. Thread-safe: calls take turns.
 */
public final class BuildTurn implements AutoCloseable {
    private static final int ROOT = 0;

    private final ControlConnection connection;
    private final Build build;

    /** Takes ownership of the connection, unless this fails. */
    BuildTurn(ControlConnection connection, Build build) {
        requireUsable(build.folder());
        this.connection = connection;
        this.build = build;
    }

    /** Refuses root if the daemon runs as another user, which could not read the files of root. */
    private static void requireUsable(String folder) {
        try {
            Path path = Path.of(folder);
            boolean isRoot = Posix.system().userId() == ROOT;
            if (isRoot
                    && !Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                            .equals(ROOT)) {
                String owner = Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).getName();
                throw Failure.of(ErrorCode.REFUSED, "root cannot build in the store of another user")
                        .with("folder", folder)
                        .with("owner", owner)
                        .remedy("build as " + owner + ", or load files, which the daemon reads itself");
            }
        } catch (InvalidPathException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "name cannot be a file name in this locale")
                    .with("folder", folder)
                    .with("encoding", System.getProperty("sun.jnu.encoding"))
                    .cause(e)
                    .remedy("set LC_ALL=C.UTF-8");
        } catch (IOException gone) {
            return; // the daemon is gone as well: the next call reports that
        }
    }

    /** Returns the folder to write {@code .npy} files into. */
    public String folder() {
        return build.folder();
    }

    /** Returns the daemon's policy for memory nodes. */
    public MemoryPolicy memoryPolicy() {
        return MemoryPolicy.parse(Objects.requireNonNullElse(build.memoryPolicy(), ""));
    }

    /**
     * Requests new files in the folder, which this process then opens, writes and closes. This is the only way to write into
     * the store of another user.
     */
    public void makeFiles(List<NewFile> files) {
        connection.callAll(files, Request.Files::new);
    }

    /**
     * Requests space before it is written. The daemon evicts datasets if needed.
     *
     * @param bytes the whole space of the build, including earlier calls
     * @throws LarderException NO_SPACE with all numbers, or the reason why the daemon abandoned the build
     */
    public void makeRoom(long bytes) {
        connection.call(new Request.Room(bytes), ProgressListener.NONE);
    }

    /** Publishes the files, and returns when the dataset is resident. No file may still be open for writing. */
    public Done publish(Map<String, ColumnPart> parts, ProgressListener listener) {
        List<PartOfColumn> all = parts.entrySet().stream()
                .map(part -> new PartOfColumn(part.getKey(), part.getValue()))
                .toList();
        connection.callAll(all, Request.Part::new);
        return connection.call(new Request.Publish(), listener);
    }

    @Override
    public void close() {
        connection.close();
    }
}
