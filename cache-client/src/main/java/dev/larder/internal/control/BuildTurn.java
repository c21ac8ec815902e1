package dev.larder.internal.control;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.NewFilesRequest;
import dev.larder.internal.protocol.NewFilesRequest.NewFile;
import dev.larder.internal.protocol.PublishRequest;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The right to build a dataset, held for as long as a connection to the daemon is open. Whoever gets it closes it; closed before
 * {@link #publish} has returned, what was written is removed and the next client has its turn. Used by one thread.
 */
public final class BuildTurn implements AutoCloseable {
    /** Few enough for the longest names and paths. */
    private static final int FILES_A_REQUEST = 500;

    private static final long REASON_MS = 2_000;
    private static final int ROOT = 0;

    private final ControlClient client;
    private final ControlConnection connection;
    private final Build build;
    private final Thread listener;
    private volatile @Nullable LarderException givenUp;

    /** Takes the connection over, unless this fails. */
    BuildTurn(ControlClient client, ControlConnection connection, Build build) {
        requireUsable(build.folder());
        this.client = client;
        this.connection = connection;
        this.build = build;
        connection.disableTimeout();
        this.listener = new Thread(this::listen, "larder-build");
        listener.setDaemon(true);
        listener.start();
    }

    /** Refuses root where the daemon is another user's, which could not read what root writes. */
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
            return; // and the daemon with it: whoever writes there is told
        }
    }

    /** Returns the folder to write {@code .npy} files into. */
    public String folder() {
        return build.folder();
    }

    /**
     * Has files made in the folder, for this process to open, write and close: the way to write into the store of another user, who
     * lets nobody put files there.
     */
    public void makeFiles(List<NewFile> files) {
        for (int from = 0; from < files.size(); from += FILES_A_REQUEST) {
            List<NewFile> some = files.subList(from, Math.min(files.size(), from + FILES_A_REQUEST));
            client.makeFiles(new NewFilesRequest(build.token(), some));
        }
    }

    /**
     * Has the daemon set space aside before it is written; what may leave for it does.
     *
     * @param bytes how much the build takes in all, with what was asked for before
     * @throws LarderException NO_SPACE with all numbers, or why the daemon gave the build up
     */
    public void makeRoom(long bytes) {
        try {
            client.makeRoom(new Request.MakeRoom(build.token(), bytes));
        } catch (LarderException e) {
            throw e.code() == ErrorCode.NOT_FOUND ? reasonOr(e) : e;
        }
    }

    /** Publishes what was written, and returns when it is resident. No file may be open for writing any more. */
    public Done publish(Map<String, ColumnPart> parts, ProgressListener listener) {
        try {
            return client.publish(new PublishRequest(build.token(), parts), listener);
        } catch (LarderException e) {
            throw e.code() == ErrorCode.NOT_FOUND ? reasonOr(e) : e;
        }
    }

    /** Returns why the daemon gave the build up, which comes on the other connection, and may come a little later. */
    private LarderException reasonOr(LarderException failure) {
        try {
            listener.join(REASON_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        LarderException reason = givenUp;
        return reason == null ? failure : reason;
    }

    /** Takes in the daemon's signs of life, so that it does not take us for dead. Its own silence ends nothing: it may be stopped. */
    private void listen() {
        try {
            connection.finish(ProgressListener.NONE, Deadline.none());
        } catch (LarderException e) {
            givenUp = e; // publishing will tell
        } catch (RuntimeException closed) {
            return;
        }
    }

    @Override
    public void close() {
        connection.close();
    }
}
