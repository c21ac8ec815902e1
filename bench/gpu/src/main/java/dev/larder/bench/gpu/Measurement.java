package dev.larder.bench.gpu;

import java.util.Locale;

/**
 * One line of the table.
 *
 * @param part the group of the figure
 * @param limit the limit of this machine, measured in the same run; NaN if there is no limit
 * @param limitName the measurement that is the limit
 * @param target the target as text; empty if there is no target
 * @param note a remark, such as the reason why there is no figure
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
    /** The comparison of a figure with its target. */
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

    /** Reports the reason why there is no figure. */
    static Measurement notApplicable(String part, String what, String reason) {
        return new Measurement(part, what, Double.NaN, "", Double.NaN, "", "", Verdict.NOT_APPLICABLE, reason);
    }

    /** Reports whether something holds. */
    static Measurement holds(String part, String what, boolean holds, String note) {
        Verdict verdict = holds ? Verdict.PASS : Verdict.FAIL;
        return new Measurement(part, what, Double.NaN, "", Double.NaN, "", "the same", verdict, note);
    }

    /** Adds the limit of the figure. */
    Measurement beside(double newLimit, String name) {
        return new Measurement(part, what, value, unit, newLimit, name, target, verdict, note);
    }

    /** Adds a target: at least this share of the limit. If {@code judged} is false, the target is for another kind of machine. */
    Measurement atLeast(double share, boolean judged) {
        String wanted = ">= " + Math.round(share * 100) + " %";
        return judge(wanted, value >= share * limit, judged && !Double.isNaN(limit));
    }

    /** Adds a target: at most this value. */
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

    /** Returns the figure as a percentage of its limit; empty if there is no limit. */
    String share() {
        return Double.isNaN(limit) || Double.isNaN(value) || limit == 0 ? "" : Math.round(100 * value / limit) + " %";
    }

    /** Formats a number with its significant digits. */
    static String text(double number) {
        if (Double.isNaN(number)) {
            return "";
        }
        double size = Math.abs(number);
        String format = size >= 100 || number == Math.rint(number) ? "%.0f" : size >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, format, number);
    }
}
