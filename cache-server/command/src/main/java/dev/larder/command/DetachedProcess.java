package dev.larder.command;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.posix.Posix;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A second process that runs the same command line in the background. The first one passes on what the second prints, until
 * the second ends, or prints {@link #READY} to say that it needs nobody to wait for it any more.
 */
final class DetachedProcess {
    private static final String MARK = "larder.detached";
    private static final char READY = '\0';

    private DetachedProcess() {}

    /** Tells whether this process is the second one. */
    static boolean isThisOne() {
        return Boolean.getBoolean(MARK);
    }

    /** Starts the second process and returns 0 when it is ready, else its exit code. */
    static int start(PrintWriter out) {
        Process process = launch();
        Posix.system().acceptInterrupts();
        AtomicBoolean interrupted = new AtomicBoolean();
        for (String name : List.of(Signals.INTERRUPT, Signals.TERMINATE)) {
            Signals.handle(name, signal -> {
                interrupted.set(true);
                process.destroy();
            });
        }
        if (relay(process, out) && !interrupted.get()) {
            return 0;
        }
        int code = await(process);
        return code == 0 ? ErrorCode.INTERRUPTED.number() : code;
    }

    /** Lets go of the first process, of the terminal, and of whatever standard output and error led to. */
    static void reportReady(PrintWriter out) {
        out.print(READY);
        out.flush();
        Posix.system().silenceStandardStreams();
    }

    private static Process launch() {
        try {
            List<String> command = new ArrayList<>(ownCommandLine());
            command.add(1, "-D" + MARK + "=true");
            return new ProcessBuilder(command)
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot start the daemon's process")
                    .with("reason", e)
                    .cause(e)
                    .remedy("run larder serve without --detach");
        }
    }

    /** Returns the words of this very command line, and the program by its file instead of its name. */
    private static List<String> ownCommandLine() throws IOException {
        String line = Files.readString(Path.of("/proc/self/cmdline"), StandardCharsets.UTF_8);
        List<String> words = new ArrayList<>(List.of(line.split("\0")));
        words.set(0, Path.of("/proc/self/exe").toRealPath().toString());
        return words;
    }

    private static boolean relay(Process process, PrintWriter out) {
        try (Reader output = process.inputReader(StandardCharsets.UTF_8)) {
            char[] buffer = new char[1024];
            for (int count = output.read(buffer); count >= 0; count = output.read(buffer)) {
                boolean ready = count > 0 && buffer[count - 1] == READY;
                out.write(buffer, 0, ready ? count - 1 : count);
                out.flush();
                if (ready) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            return false;
        }
    }

    private static int await(Process process) {
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
            return ErrorCode.INTERRUPTED.number();
        }
    }
}
