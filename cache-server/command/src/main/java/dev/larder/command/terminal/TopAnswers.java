package dev.larder.command.terminal;

import dev.larder.command.output.LoadRates;
import dev.larder.command.output.LoadRow;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.protocol.ErrorRow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What only the daemon itself can tell: its loads and its errors. It is asked seldom, for a short time, and no more for a while where it
 * gave no answer.
 *
 * @param untilErrors how many looks from now it is asked for errors
 * @param untilLoads how many looks from now it is asked for loads
 */
record TopAnswers(LoadRates rates, List<LoadRow> loads, List<ErrorRow> errors, int untilErrors, int untilLoads) {
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final int LOOKS_BETWEEN = 10;

    static TopAnswers none() {
        return new TopAnswers(new LoadRates(), List.of(), List.of(), 0, 0);
    }

    /** Returns what holds a look later, where the daemon is asked for errors, and for loads if there are any. */
    TopAnswers next(Path store, boolean isLoading) {
        ControlClient daemon = ControlClient.at(store).patientFor(PATIENCE);
        List<ErrorRow> nowErrors = untilErrors > 0 ? errors : ask(daemon::errors);
        List<LoadRow> nowLoads = List.of();
        int nextLoads = Math.max(0, untilLoads - 1);
        if (isLoading && untilLoads == 0) {
            var asked = ask(daemon::loads);
            nowLoads = asked == null ? List.of() : rates.rows(asked);
            nextLoads = asked == null ? LOOKS_BETWEEN : 0;
        }
        return new TopAnswers(
                rates,
                nowLoads,
                nowErrors == null ? List.of() : nowErrors,
                untilErrors > 0 ? untilErrors - 1 : LOOKS_BETWEEN,
                nextLoads);
    }

    /** What the daemon is asked. */
    private interface Question<T> {
        List<T> answer();
    }

    /** Returns null for no answer: from a daemon that hangs, or to a member of the group. */
    private static <T> @Nullable List<T> ask(Question<T> question) {
        try {
            return question.answer();
        } catch (LarderException noAnswer) {
            return null;
        }
    }
}
