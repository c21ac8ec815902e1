package dev.larder.command.serve;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.Posix;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * A daemon in the background. Its script waits until the daemon ends, or reports through a pipe that it is ready. {@code
 * larder.ready} is the pipe's descriptor.
 */
public final class DetachedProcess {
    private static final Integer READY = Integer.getInteger("larder.ready");

    private DetachedProcess() {}

    /** Fails if no script waits for this process. */
    public static void requireScript() {
        if (READY == null) {
            throw Failure.of(ErrorCode.USAGE, "--detach works only through the larder script")
                    .with("larder.ready", "none")
                    .remedy("start the daemon with ops/larder, or bin/larder of an archive");
        }
    }

    /** Detaches from standard output and error, and ends the wait of the script. */
    public static void reportReady() {
        Posix.system().silenceStandardStreams();
        try (OutputStream script = new FileOutputStream("/proc/self/fd/" + READY)) {
            script.write('\n');
        } catch (IOException e) {
            // The script was killed.
        }
        Posix.system().close(READY);
    }
}
