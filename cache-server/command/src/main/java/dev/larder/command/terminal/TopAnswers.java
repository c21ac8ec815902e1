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
 * The loads and errors that only the daemon can report. Calls are rare and short, and pause for a while after one without an answer.
 *
 * @param untilErrors the number of samples until the next call for errors
 * @param untilLoads the number of samples until the next call for loads
 */
record TopAnswers(LoadRates rates, List<LoadRow> loads, List<ErrorRow> errors, int untilErrors, int untilLoads) {
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final int LOOKS_BETWEEN = 10;

    static TopAnswers none() {
        return new TopAnswers(new LoadRates(), List.of(), List.of(), 0, 0);
    }

    /** Returns the answers for the next sample. Calls the daemon for errors if it is time, and for loads if there are any. */
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

    /** A call of the daemon. */
    private interface Question<T> {
        List<T> answer();
    }

    /** Returns null if the daemon hangs, or refuses the call to a member of the group. */
    private static <T> @Nullable List<T> ask(Question<T> question) {
        try {
            return question.answer();
        } catch (LarderException noAnswer) {
            return null;
        }
    }
}
