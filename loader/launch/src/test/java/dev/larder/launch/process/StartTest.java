package dev.larder.launch.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.launch.process.ExitCause.NotStarted;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Hears what small tools say when they cannot become a program. */
class StartTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "125 | env: unrecognized option '--default-signal'",
                "1 | env: unrecognized option: default-signal",
                "1 | setpriv: unrecognized option '--pdeathsig'",
            })
    void toolsThatAreTooOldAreNamedWithTheVersionsThatAreNeeded(int code, String line) {
        NotStarted refused = Start.refused(code, line);

        assertThat(refused).isNotNull().extracting(NotStarted::exitCode).isEqualTo(126);
        assertThat(String.valueOf(refused)).contains(line, "coreutils 8.31", "util-linux 2.33");
    }

    @ParameterizedTest
    @CsvSource({"1,diverged", "125,docker: unrecognized option", "2,env: unrecognized option", "0,env: no option"})
    void whatProgramsSayThemselvesIsTheirs(int code, String line) {
        assertThat(Start.refused(code, line)).isNull();
    }
}
