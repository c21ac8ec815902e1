package dev.larder.command.terminal;

import dev.larder.command.signal.Signals;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.Posix;
import java.io.PrintWriter;
import java.util.function.Consumer;
import picocli.CommandLine.Option;

/** Options and Ctrl-C of commands that report progress. */
public final class ProgressOptions {
    @Option(names = "--json", description = "Print progress as JSON on standard error, one object a line.")
    boolean json;

    /** Returns whether standard error gets JSON. */
    public boolean isJson() {
        return json;
    }

    /**
     * Does the work and shows its progress until it ends or Ctrl-C interrupts it.
     *
     * @param what the name of the command, for the message after a Ctrl-C
     * @return the exit code
     */
    public int follow(PrintWriter err, String what, Consumer<ProgressDisplay> work) {
        Thread self = Thread.currentThread();
        Posix.system().acceptInterrupts();
        Signals.handle(Signals.INTERRUPT, signal -> self.interrupt());
        try (ProgressDisplay display = ProgressDisplay.on(err, json)) {
            try {
                work.accept(display);
                return 0;
            } catch (LarderException e) {
                LarderException failure = e.code() == ErrorCode.INTERRUPTED ? interrupted(what, e) : e;
                if (display.problem(failure)) {
                    return failure.rawCode();
                }
                throw failure;
            }
        }
    }

    private static LarderException interrupted(String what, LarderException cause) {
        return Failure.of(ErrorCode.INTERRUPTED, what + " was interrupted")
                .with("reason", cause)
                .cause(cause)
                .remedy("the daemon cancels a load that no client waits for; check it with larder ls --all");
    }
}
