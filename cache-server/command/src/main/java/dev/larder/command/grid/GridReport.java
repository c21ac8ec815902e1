package dev.larder.command.grid;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import dev.larder.command.output.Table;
import dev.larder.command.output.Units;
import dev.larder.launch.grid.GridJob;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The results of a grid: as a table, as CSV, as JSON.
 *
 * @param folder of the logs and the journal
 */
public record GridReport(Path folder, List<Line> lines) {
    private static final String RESULT = "result";
    private static final int LONGEST_TEXT = 60;
    private static final List<String> FIXED =
            List.of("job", "state", "device", "attempts", "seconds", "exitCode", "cause");

    /** A job, and its record. */
    public record Line(GridJob job, JobRecord record, Path log) {}

    /** Counts the jobs in a state. */
    public long count(JobState state) {
        return lines.stream().filter(line -> line.record().state() == state).count();
    }

    /** Returns the number of jobs in each state: {@code 6 done, 2 failed}. */
    public String summary() {
        List<String> parts = new ArrayList<>();
        for (JobState state : JobState.values()) {
            long count = count(state);
            if (count > 0) {
                parts.add(count + " " + state.text());
            }
        }
        return String.join(", ", parts);
    }

    /** Returns a table for people. */
    public List<String> table() {
        List<String> headings = new ArrayList<>(List.of(">JOB"));
        List<String> parameters = parameters();
        Set<String> results = resultKeys();
        headings.addAll(parameters);
        headings.addAll(List.of("STATE", "DEVICE", ">TIME"));
        results.forEach(key -> headings.add(Table.RIGHT + key));
        headings.add("RESULT");
        Table table = Table.of(headings);
        for (Line line : lines) {
            JobRecord record = line.record();
            List<String> row =
                    new ArrayList<>(List.of(Integer.toString(line.job().number())));
            parameters.forEach(name -> row.add(line.job().parameters().getOrDefault(name, "")));
            row.addAll(List.of(
                    record.state().text(), record.slot(), record.ran().isZero() ? "" : Units.duration(record.ran())));
            results.forEach(key -> row.add(value(record.result(), key)));
            row.add(outcome(record));
            table.row(row);
        }
        return table.lines();
    }

    /** Returns the result of a job that is done, else the cause of its end and its last line. */
    private static String outcome(JobRecord record) {
        String text = cut(text(record.result()));
        boolean saysAll = record.state() == JobState.DONE || record.cause().isEmpty();
        return saysAll ? text : text.isEmpty() ? record.cause() : record.cause() + ": " + text;
    }

    private static String cut(String text) {
        return text.codePointCount(0, text.length()) <= LONGEST_TEXT
                ? text
                : text.substring(0, text.offsetByCodePoints(0, LONGEST_TEXT - 1)) + "…";
    }

    /** Returns lines of comma-separated values under a line of names; a duplicate name gets a prefix. */
    public List<String> csv() {
        List<String> parameters = parameters();
        Set<String> results = resultKeys();
        Set<String> names = new LinkedHashSet<>(FIXED);
        parameters.forEach(name -> names.add(free(name, "parameter.", names)));
        results.forEach(key -> names.add(free(key, RESULT + ".", names)));
        names.add(free(RESULT, "text.", names));
        List<String> csv = new ArrayList<>(List.of(row(names)));
        for (Line line : lines) {
            JobRecord record = line.record();
            List<String> cells = new ArrayList<>(List.of(
                    Integer.toString(line.job().number()),
                    record.state().text(),
                    record.slot(),
                    Integer.toString(record.attempts()),
                    seconds(record),
                    record.exitCode() < 0 ? "" : Integer.toString(record.exitCode()),
                    record.cause()));
            parameters.forEach(name -> cells.add(line.job().parameters().getOrDefault(name, "")));
            results.forEach(key -> cells.add(value(record.result(), key)));
            cells.add(text(record.result()));
            csv.add(row(cells));
        }
        return csv;
    }

    private static String free(String name, String prefix, Set<String> taken) {
        String free = name;
        while (taken.contains(free)) {
            free = prefix + free;
        }
        return free;
    }

    private static String row(Iterable<String> cells) {
        List<String> quoted = new ArrayList<>();
        for (String cell : cells) {
            boolean isPlain = cell.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
            quoted.add(isPlain ? cell : '"' + cell.replace("\"", "\"\"") + '"');
        }
        return String.join(",", quoted);
    }

    /** Returns a JSON object. */
    public String json() {
        JsonFields json = new JsonFields().with("folder", folder.toString());
        for (JobState state : JobState.values()) {
            json.with(state.text(), count(state));
        }
        return Json.document(
                json.with("jobs", lines.stream().map(GridReport::fields).toList()));
    }

    private static JsonFields fields(Line line) {
        JobRecord record = line.record();
        JsonFields parameters = new JsonFields();
        line.job().parameters().forEach(parameters::with);
        return new JsonFields()
                .with("job", line.job().number())
                .with("parameters", parameters)
                .with("command", line.job().words())
                .with("state", record.state().text())
                .with("device", record.slot())
                .with("attempts", record.attempts())
                .with("seconds", record.ran().toMillis() / 1000.0)
                .with("exitCode", record.exitCode() < 0 ? null : record.exitCode())
                .with("cause", record.cause())
                .with("log", line.log().toString())
                .with(RESULT, new Json.Raw(record.result().toString()));
    }

    private List<String> parameters() {
        return lines.isEmpty()
                ? List.of()
                : List.copyOf(lines.get(0).job().parameters().keySet());
    }

    /** Returns the keys of all result objects, in the order of their first occurrence. */
    private Set<String> resultKeys() {
        Set<String> keys = new LinkedHashSet<>();
        for (Line line : lines) {
            if (line.record().result() instanceof JsonObject object) {
                keys.addAll(object.keySet());
            }
        }
        return keys;
    }

    private static String value(JsonElement result, String key) {
        if (!(result instanceof JsonObject object) || !object.has(key)) {
            return "";
        }
        JsonElement value = object.get(key);
        return value.isJsonNull() ? "" : value.isJsonPrimitive() ? value.getAsString() : value.toString();
    }

    private static String text(JsonElement result) {
        return result.isJsonPrimitive() ? result.getAsString() : "";
    }

    /** Returns a result in one line: {@code loss=0.3 epochs=4}, or its text. */
    static String resultText(JsonElement result) {
        if (result instanceof JsonObject object) {
            Map<String, String> values = new LinkedHashMap<>();
            object.keySet().forEach(key -> values.put(key, value(object, key)));
            return values.entrySet().stream()
                    .map(entry -> entry.getKey() + "=" + entry.getValue())
                    .collect(Collectors.joining(" "));
        }
        return text(result);
    }

    private static String seconds(JobRecord record) {
        return String.format(Locale.ROOT, "%.3f", record.ran().toMillis() / 1000.0);
    }
}
