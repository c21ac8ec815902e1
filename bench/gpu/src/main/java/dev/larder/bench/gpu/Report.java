package dev.larder.bench.gpu;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The table of the figures. Prints each line immediately, so that an interrupted run still shows results. */
final class Report {
    private static final String LINE = "%-9s %-58s %10s %-8s %10s %6s  %-9s %-14s %s%n";

    private final PrintStream out;
    private final Map<String, String> machine = new LinkedHashMap<>();
    private final List<Measurement> measurements = new ArrayList<>();

    Report(PrintStream out) {
        this.out = out;
    }

    /** Prints a property of the machine. */
    void machine(String what, Object value) {
        machine.put(what, value.toString());
        out.printf(Locale.ROOT, "%-12s %s%n", what, value);
    }

    void heading() {
        out.println();
        out.printf(
                Locale.ROOT, LINE, "part", "figure", "value", "unit", "limit", "share", "target", "", "limit is; note");
    }

    void add(Measurement measurement) {
        measurements.add(measurement);
        String note = measurement.limitName().isEmpty() || measurement.note().isEmpty()
                ? measurement.limitName() + measurement.note()
                : measurement.limitName() + "; " + measurement.note();
        String line = String.format(
                Locale.ROOT,
                LINE,
                measurement.part(),
                measurement.what(),
                Measurement.text(measurement.value()),
                measurement.unit(),
                Measurement.text(measurement.limit()),
                measurement.share(),
                measurement.target(),
                measurement.verdict().text,
                note);
        out.println(line.stripTrailing());
        out.flush();
    }

    /** Prints a summary; returns the exit code: 0 if no target was missed, 1 if one was, 3 if nothing was measured. */
    int end() {
        long failed = count(Measurement.Verdict.FAIL);
        out.println();
        out.printf(
                Locale.ROOT,
                "%d figures: %d pass, %d fail, %d not judged here, %d not applicable, %d reported%n",
                measurements.size(),
                count(Measurement.Verdict.PASS),
                failed,
                count(Measurement.Verdict.NOT_JUDGED),
                count(Measurement.Verdict.NOT_APPLICABLE),
                count(Measurement.Verdict.REPORTED));
        return failed > 0 ? 1 : count(Measurement.Verdict.NOT_APPLICABLE) == measurements.size() ? 3 : 0;
    }

    private long count(Measurement.Verdict verdict) {
        return measurements.stream()
                .filter(measurement -> measurement.verdict() == verdict)
                .count();
    }

    /** Returns the report as a JSON document. */
    String json() {
        StringBuilder text = new StringBuilder("{\"machine\": {");
        String comma = "";
        for (Map.Entry<String, String> entry : machine.entrySet()) {
            text.append(comma).append(quoted(entry.getKey())).append(": ").append(quoted(entry.getValue()));
            comma = ", ";
        }
        text.append("}, \"findings\": [");
        comma = "\n  ";
        for (Measurement measurement : measurements) {
            text.append(comma).append(json(measurement));
            comma = ",\n  ";
        }
        return text.append("\n]}\n").toString();
    }

    private static String json(Measurement measurement) {
        return "{\"part\": " + quoted(measurement.part()) + ", \"what\": " + quoted(measurement.what())
                + ", \"value\": "
                + number(measurement.value()) + ", \"unit\": " + quoted(measurement.unit()) + ", \"limit\": "
                + number(measurement.limit()) + ", \"limitName\": " + quoted(measurement.limitName()) + ", \"target\": "
                + quoted(measurement.target()) + ", \"verdict\": "
                + quoted(measurement.verdict().name().toLowerCase(Locale.ROOT)) + ", \"note\": "
                + quoted(measurement.note())
                + "}";
    }

    private static String number(double value) {
        return Double.isFinite(value) ? Double.toString(value) : "null";
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(' ');
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
