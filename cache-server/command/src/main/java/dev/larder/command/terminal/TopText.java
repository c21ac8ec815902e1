package dev.larder.command.terminal;

import dev.larder.command.output.ClientRow;
import dev.larder.command.output.FeedRow;
import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import dev.larder.command.output.ProcessFacts;
import dev.larder.command.output.Units;
import dev.larder.server.metrics.Counter;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What {@code larder top} shows, as plain lines. */
public final class TopText {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss").withZone(ZoneId.systemDefault());

    private TopText() {}

    /** Returns the lines for one look; rates and processor time come from the look before. */
    public static List<String> lines(TopSample now, @Nullable TopSample before) {
        List<String> lines = new ArrayList<>();
        lines.add("larder top  " + now.store() + "  " + TIME.format(now.time()));
        lines.add("daemon  " + daemon(now, before));
        lines.add("bytes   resident " + size(now, Counter.RESIDENT_BYTES) + "  leased " + Units.size(now.leasedBytes())
                + "  pinned " + size(now, Counter.PINNED_BYTES) + "  retired " + size(now, Counter.RETIRED_BYTES)
                + "  capacity " + size(now, Counter.CAPACITY_BYTES));
        lines.add("now     datasets " + now.count(Counter.DATASETS) + "  arrays " + now.count(Counter.ARRAYS)
                + "  clients " + now.clients().size() + "  loading " + now.count(Counter.LOADING) + "  waiting "
                + now.count(Counter.WAITING) + "  connections " + now.count(Counter.CONNECTIONS));
        lines.add("asks    " + rates(now, before, "hits", Counter.ASK_HITS, "misses", Counter.ASK_MISSES) + "  "
                + rates(now, before, "unknown", Counter.ASKS_UNKNOWN, "late", Counter.ASKS_LATE) + "  "
                + rates(now, before, "requests", Counter.REQUESTS, "sampled opens", Counter.SAMPLED_OPENS));
        lines.add("work    " + rates(now, before, "loads", Counter.LOADS, "builds", Counter.BUILDS) + "  "
                + rates(now, before, "evictions", Counter.EVICTIONS, "refusals", Counter.SPACE_REFUSALS)
                + "  failed " + (now.count(Counter.LOAD_FAILURES) + now.count(Counter.BUILD_FAILURES)));
        if (!now.feeds().isEmpty()) {
            lines.add("");
            lines.addAll(FeedRow.table(now.feeds(), feedsOf(before)));
        }
        lines.add("");
        lines.addAll(ClientRow.table(now.clients()));
        return lines;
    }

    private static List<FeedRow> feedsOf(@Nullable TopSample before) {
        return before == null ? List.of() : before.feeds();
    }

    private static String daemon(TopSample now, @Nullable TopSample before) {
        ProcessFacts process = now.process();
        String state = switch (now.life()) {
            case RUNNING -> "running";
            case STOPPED ->
                "stopped by a signal (kill -CONT " + now.counters().pid() + " resumes it; readers continue)";
            case ELSEWHERE -> "running in another pid namespace";
            case GONE -> "gone; its last counters:";
        };
        String age = now.life() == TopSample.Life.GONE ? "" : "  up " + Units.duration(now.uptime());
        return state + "  pid " + now.counters().pid() + age
                + (process == null
                        ? ""
                        : String.format(
                                Locale.ROOT,
                                "  cpu %.1f %%  memory %s  threads %d",
                                now.cpuPercent(before),
                                Units.size(process.residentBytes()),
                                process.threads()));
    }

    private static String size(TopSample now, Counter counter) {
        return Units.size(now.count(counter));
    }

    private static String rates(
            TopSample now, @Nullable TopSample before, String first, Counter one, String second, Counter two) {
        return rate(now, before, first, one) + "  " + rate(now, before, second, two);
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
                .with("clients", now.clients().stream().map(Json::fields).toList())
                .with(
                        "feeds",
                        now.feeds().stream()
                                .map(feed -> feed.fields(feedsOf(before)))
                                .toList()));
    }
}
