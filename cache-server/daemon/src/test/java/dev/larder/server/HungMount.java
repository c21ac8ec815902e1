package dev.larder.server;

import dev.larder.testing.Folders;
import dev.larder.testing.LeavesNothingBehind;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * A file system that answers nothing until it is closed, as NFS whose server is gone: FUSE with a server that does not read. If this
 * user may not mount, the test is skipped with the reason.
 */
final class HungMount implements AutoCloseable {
    private static final String SERVER = "exec 7<>/dev/fuse &&"
            + " mount -i -t fuse -o fd=7,rootmode=40000,user_id=0,group_id=0 larder-hung \"$0\" && echo mounted && exec sleep 600";

    private final Path folder;
    private final Process server;
    private @Nullable Path own;

    private HungMount(Path folder, Process server) {
        this.folder = folder;
        this.server = server;
    }

    static HungMount mount() {
        Path own = LeavesNothingBehind.newFolder();
        try {
            HungMount mounted = over(own);
            mounted.own = own;
            return mounted;
        } catch (TestAbortedException e) {
            Folders.remove(own);
            throw e;
        }
    }

    /** Hides a folder until it is closed. */
    static HungMount over(Path folder) {
        try {
            Process server = new ProcessBuilder("bash", "-c", SERVER, folder.toString())
                    .redirectErrorStream(true)
                    .start();
            String said = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
            if (!"mounted".equals(said)) {
                throw new TestAbortedException("cannot mount a FUSE file system: " + said);
            }
            return new HungMount(folder, server);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a path there; whatever looks at it waits until {@link #wake}. */
    Path path(String name) {
        return folder.resolve(name);
    }

    /** Ends the server: everything that waits fails. */
    void wake() {
        try {
            server.destroyForcibly();
            if (!server.waitFor(60, TimeUnit.SECONDS)) {
                throw new AssertionError("the server of a FUSE file system does not end");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        wake();
        try {
            if (new ProcessBuilder("umount", "-l", folder.toString()).start().waitFor() != 0) {
                throw new AssertionError("cannot unmount " + folder);
            }
            if (own != null) {
                Files.delete(own);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
