package dev.larder.command.terminal;

import dev.larder.command.output.ClientRow;
import dev.larder.command.output.ErrorText;
import dev.larder.command.output.FeedRow;
import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import dev.larder.command.output.LoadRow;
import dev.larder.command.output.LoaderTable;
import dev.larder.command.output.ProcessFacts;
import dev.larder.command.output.Units;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.server.metrics.Counter;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The output of {@code larder top} as plain lines. */
public final class TopText {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss").withZone(ZoneId.systemDefault());

    private static final String GAP = "  ";
    private static final int INDENT = 8;
    private static final int WIDEST_BAR = 120;
    private static final int MOST_ERRORS = 5;

    private TopText() {}

    /**
     * Returns the lines for one sample; rates and processor time come from the sample before.
     *
     * @param width the characters of a line; the screen cuts longer lines
     */
    public static List<String> lines(TopSample now, @Nullable TopSample before, int width) {
        List<String> lines = new ArrayList<>();
        lines.add("larder top  " + now.store() + "  " + TIME.format(now.time()));
        lines.addAll(wrapped("daemon", daemon(now, before), width));
        lines.add("memory  " + bar(now, Math.min(width, WIDEST_BAR) - INDENT));
        lines.addAll(wrapped("bytes", bytes(now), width));
        lines.addAll(wrapped("now", present(now), width));
        lines.addAll(wrapped("asks", asks(now, before), width));
        lines.addAll(wrapped("work", work(now, before), width));
        addTable(
                lines,
                now.answers().loads().isEmpty()
                        ? List.of()
                        : LoadRow.table(now.answers().loads(), width));
        addTable(lines, now.feeds().isEmpty() ? List.of() : FeedRow.table(now.feeds(), feedsOf(before), width));
        addTable(lines, now.loaders().isEmpty() ? List.of() : LoaderTable.lines(now.loaders(), width));
        addTable(lines, ClientRow.table(now.clients(), width));
        List<ErrorRow> errors = now.answers().errors();
        addTable(lines, errors.isEmpty() ? List.of() : ErrorText.table(errors, MOST_ERRORS));
        return lines;
    }

    private static void addTable(List<String> lines, List<String> table) {
        if (!table.isEmpty()) {
            lines.add("");
            lines.addAll(table);
        }
    }

    /** Breaks a line between parts; further lines are indented. */
    private static List<String> wrapped(String head, List<String> parts, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder(head + " ".repeat(INDENT - head.length()));
        for (String part : parts) {
            if (line.length() > INDENT && line.length() + GAP.length() + part.length() > width) {
                lines.add(line.toString());
                line = new StringBuilder(" ".repeat(INDENT));
            }
            line.append(line.length() > INDENT ? GAP : "").append(part);
        }
        lines.add(line.toString());
        return lines;
    }

    /** Draws the capacity: leased (#), resident but not leased (=), retired (-), which may be leased, and free (.). */
    private static String bar(TopSample now, int width) {
        double capacity = Math.max(1, now.count(Counter.CAPACITY_BYTES));
        long resident = now.count(Counter.RESIDENT_BYTES);
        long leased = Math.min(now.leasedBytes(), resident);
        int cells = Math.max(0, width - 2);
        int hashes = cells(leased, capacity, cells);
        int equals = Math.min(cells - hashes, cells(resident - leased, capacity, cells));
        int dashes = Math.min(cells - hashes - equals, cells(now.count(Counter.RETIRED_BYTES), capacity, cells));
        return "[" + "#".repeat(hashes) + "=".repeat(equals) + "-".repeat(dashes)
                + ".".repeat(cells - hashes - equals - dashes) + "]";
    }

    private static int cells(long bytes, double capacity, int cells) {
        return (int) Math.min(cells, Math.ceil(bytes / capacity * cells));
    }

    /** Returns sizes, with the characters that stand for them in the bar. */
    private static List<String> bytes(TopSample now) {
        return List.of(
                "resident #= " + size(now, Counter.RESIDENT_BYTES),
                "leased # " + Units.size(now.leasedBytes()),
                "retired - " + size(now, Counter.RETIRED_BYTES),
                "pinned " + size(now, Counter.PINNED_BYTES),
                "capacity " + size(now, Counter.CAPACITY_BYTES));
    }

    private static List<String> present(TopSample now) {
        return List.of(
                "datasets " + now.count(Counter.DATASETS),
                "arrays " + now.count(Counter.ARRAYS),
                "clients " + now.clients().size(),
                "loading " + now.count(Counter.LOADING),
                "waiting " + now.count(Counter.WAITING),
                "connections " + now.count(Counter.CONNECTIONS));
    }

    private static List<String> asks(TopSample now, @Nullable TopSample before) {
        return List.of(
                rate(now, before, "hits", Counter.ASK_HITS),
                rate(now, before, "misses", Counter.ASK_MISSES),
                rate(now, before, "unknown", Counter.ASKS_UNKNOWN),
                rate(now, before, "late", Counter.ASKS_LATE),
                rate(now, before, "requests", Counter.REQUESTS),
                rate(now, before, "sampled opens", Counter.SAMPLED_OPENS));
    }

    private static List<String> work(TopSample now, @Nullable TopSample before) {
        return List.of(
                rate(now, before, "loads", Counter.LOADS),
                rate(now, before, "builds", Counter.BUILDS),
                rate(now, before, "evictions", Counter.EVICTIONS),
                rate(now, before, "refusals", Counter.SPACE_REFUSALS),
                "failed " + (now.count(Counter.LOAD_FAILURES) + now.count(Counter.BUILD_FAILURES)));
    }

    private static List<FeedRow> feedsOf(@Nullable TopSample before) {
        return before == null ? List.of() : before.feeds();
    }

    private static List<String> daemon(TopSample now, @Nullable TopSample before) {
        ProcessFacts process = now.process();
        List<String> parts = new ArrayList<>();
        parts.add(
                switch (now.life()) {
                    case RUNNING -> "running";
                    case STOPPED ->
                        "stopped by a signal (kill -CONT " + now.counters().pid() + " resumes it; readers continue)";
                    case ELSEWHERE -> "running in another pid namespace";
                    case GONE -> "gone; its last counters:";
                });
        parts.add("pid " + now.counters().pid());
        if (now.life() != TopSample.Life.GONE) {
            parts.add("up " + Units.duration(now.uptime()));
        }
        if (process != null) {
            parts.add(String.format(Locale.ROOT, "cpu %.1f %%", now.cpuPercent(before)));
            parts.add("memory " + Units.size(process.residentBytes()));
            parts.add("threads " + process.threads());
        }
        return parts;
    }

    private static String size(TopSample now, Counter counter) {
        return Units.size(now.count(counter));
    }

    private static String rate(TopSample now, @Nullable TopSample before, String name, Counter counter) {
        double perSecond = now.perSecond(counter, before);
        String total = name + " " + now.count(counter);
        return perSecond > 0 ? total + String.format(Locale.ROOT, " (%.1f/s)", perSecond) : total;
    }

    /** Returns one JSON object in one line. */
    public static String json(TopSample now, @Nullable TopSample before) {
        JsonFields json = new JsonFields()
                .with("time", now.time())
                .with("store", now.store().toString())
                .with("daemon", now.life().name().toLowerCase(Locale.ROOT))
                .with("pid", now.counters().pid())
                .with("uptimeSeconds", now.uptime().toSeconds())
                .with("leasedBytes", now.leasedBytes());
        ProcessFacts process = now.process();
        if (process != null) {
            json.with("cpuPercent", Math.round(now.cpuPercent(before) * 10) / 10.0)
                    .with("memoryBytes", process.residentBytes())
                    .with("threads", process.threads());
        }
        JsonFields counters = new JsonFields();
        JsonFields perSecond = new JsonFields();
        for (Counter counter : Counter.values()) {
            counters.with(Json.key(counter.label()), now.count(counter));
            double rate = now.perSecond(counter, before);
            if (rate != 0) {
                perSecond.with(Json.key(counter.label()), Math.round(rate * 10) / 10.0);
            }
        }
        return Json.line(json.with("counters", counters)
                .with("perSecond", perSecond)
                .with(
                        "loads",
                        now.answers().loads().stream().map(LoadRow::fields).toList())
                .with(
                        "errors",
                        now.answers().errors().stream().map(Json::fields).toList())
                .with("clients", now.clients().stream().map(Json::fields).toList())
                .with(
                        "feeds",
                        now.feeds().stream()
                                .map(feed -> feed.fields(feedsOf(before)))
                                .toList())
                .with("loaders", now.loaders().stream().map(LoaderTable::fields).toList()));
    }
}
