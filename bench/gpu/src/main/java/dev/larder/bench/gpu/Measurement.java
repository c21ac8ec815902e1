package dev.larder.bench.gpu;

import java.util.Locale;

/**
 * One line of the table.
 *
 * @param part which group of figures it is of
 * @param limit what the machine itself showed in the same run; not a number where nothing limits
 * @param limitName what that was
 * @param target what was asked for, in words; empty where the figure is only reported
 * @param note what else is to be known, such as why something does not apply
 */
record Measurement(
        String part,
        String what,
        double value,
        String unit,
        double limit,
        String limitName,
        String target,
        Verdict verdict,
        String note) {
    /** What became of a target. */
    enum Verdict {
        PASS("pass"),
        FAIL("FAIL"),
        REPORTED(""),
        NOT_JUDGED("not judged"),
        NOT_APPLICABLE("not applicable");

        final String text;

        Verdict(String text) {
            this.text = text;
        }
    }

    /** Reports a figure. */
    static Measurement of(String part, String what, double value, String unit) {
        return new Measurement(part, what, value, unit, Double.NaN, "", "", Verdict.REPORTED, "");
    }

    /** Says why there is no figure. */
    static Measurement notApplicable(String part, String what, String reason) {
        return new Measurement(part, what, Double.NaN, "", Double.NaN, "", "", Verdict.NOT_APPLICABLE, reason);
    }

    /** Reports whether something holds. */
    static Measurement holds(String part, String what, boolean holds, String note) {
        Verdict verdict = holds ? Verdict.PASS : Verdict.FAIL;
        return new Measurement(part, what, Double.NaN, "", Double.NaN, "", "the same", verdict, note);
    }

    /** Sets the figure beside its limit. */
    Measurement beside(double newLimit, String name) {
        return new Measurement(part, what, value, unit, newLimit, name, target, verdict, note);
    }

    /** Asks for at least a share of the limit; where the machine is not the one that the target is for, only says what was asked. */
    Measurement atLeast(double share, boolean judged) {
        String wanted = ">= " + Math.round(share * 100) + " %";
        return judge(wanted, value >= share * limit, judged && !Double.isNaN(limit));
    }

    /** Asks for at most so much. */
    Measurement atMost(double most, boolean judged) {
        return judge("<= " + text(most), value <= most, judged);
    }

    private Measurement judge(String wanted, boolean met, boolean judged) {
        Verdict result = judged ? met ? Verdict.PASS : Verdict.FAIL : Verdict.NOT_JUDGED;
        return new Measurement(part, what, value, unit, limit, limitName, wanted, result, note);
    }

    Measurement noted(String newNote) {
        return new Measurement(part, what, value, unit, limit, limitName, target, verdict, newNote);
    }

    /** Returns the figure as a share of its limit, in words. */
    String share() {
        return Double.isNaN(limit) || Double.isNaN(value) || limit == 0 ? "" : Math.round(100 * value / limit) + " %";
    }

    /** Returns a number with as many digits as mean something. */
    static String text(double number) {
        if (Double.isNaN(number)) {
            return "";
        }
        double size = Math.abs(number);
        String format = size >= 100 || number == Math.rint(number) ? "%.0f" : size >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, format, number);
    }
}
