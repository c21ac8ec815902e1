package dev.larder.command.doctor;

import dev.larder.command.output.JsonFields;
import dev.larder.error.LarderException;
import java.util.Locale;

/**
 * The result of one check.
 *
 * @param check its name
 * @param severity its importance
 * @param found the state of the machine
 * @param remedy the command or change that helps; empty if nothing is wrong
 */
public record Finding(String check, Severity severity, String found, String remedy) {
    /** Returns the severity as one word in lower case. */
    public String severityWord() {
        return severity.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the fields of the JSON object. */
    public JsonFields fields() {
        return new JsonFields()
                .with("check", check)
                .with("severity", severityWord())
                .with("found", found)
                .with("remedy", remedy);
    }

    /** Returns the message of a failure without its remedy, which is a field of its own in a finding. */
    static String facts(LarderException failure) {
        return String.valueOf(
                new LarderException(failure.rawCode(), failure.summary(), failure.values(), "", null).getMessage());
    }

    static Finding ok(String check, String found) {
        return new Finding(check, Severity.OK, found, "");
    }

    static Finding info(String check, String found, String remedy) {
        return new Finding(check, Severity.INFO, found, remedy);
    }

    static Finding warning(String check, String found, String remedy) {
        return new Finding(check, Severity.WARNING, found, remedy);
    }

    static Finding problem(String check, String found, String remedy) {
        return new Finding(check, Severity.PROBLEM, found, remedy);
    }
}
