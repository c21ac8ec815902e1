package dev.larder.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.VersionUse;
import dev.larder.server.metrics.WaitTimes;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ExpositionTest {
    private static final Path METRICS = Path.of("../../ops/docs/METRICS.md");
    private static final Path ALERTS = Path.of("../../ops/prometheus/larder.rules.yaml");
    private static final Path DASHBOARD = Path.of("../../ops/prometheus/larder.dashboard.json");
    private static final Pattern TYPE = Pattern.compile("(?m)^# TYPE (\\S+) (\\S+)$");
    private static final Pattern LABEL = Pattern.compile("([a-z]+)=\"");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\|([^|]*)\\|");

    private final Counters counters = Counters.unshared();
    private final Exposition exposition = new Exposition(
            counters,
            () -> List.of(
                    new VersionUse("a \"b\"\n", 3, 4096, false, true, true, List.of(7L, 8L)),
                    new VersionUse("old", 1, 512, true, false, true, List.of())));

    private String text() throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        MetricSnapshots snapshots = exposition.snapshots();
        PrometheusTextFormatWriter.create().write(text, snapshots);
        return text.toString(StandardCharsets.UTF_8);
    }

    @Test
    void whatIsExposedIsWhatIsDocumented() throws IOException {
        Map<String, String> exposed = new TreeMap<>();
        String text = text();
        TYPE.matcher(text).results().forEach(type -> exposed.put(type.group(1), type.group(2) + labels(text, type)));

        Map<String, String> documented = new TreeMap<>();
        ROW.matcher(Files.readString(METRICS))
                .results()
                .forEach(row -> documented.put(
                        row.group(1), row.group(2) + names(row.group(3), Pattern.compile("`([a-z]+)`"))));

        assertThat(exposed).hasSizeGreaterThan(20).isEqualTo(documented);
    }

    @Test
    void alertsAskOnlyForWhatIsExposed() throws IOException {
        assertAskForWhatIsExposed(ALERTS, Pattern.compile("(?m)^ +expr: (.*)$"), 5);
    }

    @Test
    void panelsAskOnlyForWhatIsExposed() throws IOException {
        assertAskForWhatIsExposed(DASHBOARD, Pattern.compile("(?m)^ +\"expr\": \"(.*)\",$"), 20);
    }

    private void assertAskForWhatIsExposed(Path file, Pattern line, int least) throws IOException {
        String text = text();
        List<String> expressions = line.matcher(Files.readString(file))
                .results()
                .map(found -> found.group(1))
                .toList();

        assertThat(expressions).hasSizeGreaterThan(least);
        for (String expression : expressions) {
            names(expression, Pattern.compile("\\b(larder_[a-z_]+)"))
                    .forEach(name -> assertThat(text).containsPattern("(?m)^" + name + "[{ ]"));
            Pattern.compile("(larder_[a-z_]+)\\{([a-z]+=\"[a-z]+\")}")
                    .matcher(expression)
                    .results()
                    .forEach(series -> assertThat(text).contains(series.group(1) + "{" + series.group(2) + "}"));
        }
    }

    private static Set<String> labels(String text, MatchResult type) {
        Pattern series = Pattern.compile("(?m)^" + type.group(1) + "\\{(.*)} ");
        Set<String> labels = new TreeSet<>();
        series.matcher(text).results().forEach(line -> labels.addAll(names(line.group(1), LABEL)));
        return labels;
    }

    private static Set<String> names(String text, Pattern name) {
        Set<String> names = new TreeSet<>();
        name.matcher(text).results().forEach(found -> names.add(found.group(1)));
        return names;
    }

    @Test
    void namesOfDatasetsAreQuotedAndVersionsAreToldApart() throws IOException {
        assertThat(text())
                .contains(
                        "larder_version_bytes{dataset=\"a \\\"b\\\"\\n\",state=\"resident\",version=\"3\"} 4096.0\n",
                        "larder_version_bytes{dataset=\"old\",state=\"retired\",version=\"1\"} 512.0\n",
                        "larder_version_clients{dataset=\"a \\\"b\\\"\\n\",state=\"resident\",version=\"3\"} 2.0\n");
    }

    @Test
    void waitsAreACumulativeHistogramInSeconds() throws IOException {
        WaitTimes.record(counters, Duration.ofMillis(5));
        WaitTimes.record(counters, Duration.ofMillis(200));
        WaitTimes.record(counters, Duration.ofHours(1));

        assertThat(text())
                .contains(
                        "larder_wait_seconds_bucket{le=\"0.01\"} 1\n",
                        "larder_wait_seconds_bucket{le=\"1.0\"} 2\n",
                        "larder_wait_seconds_bucket{le=\"600.0\"} 2\n",
                        "larder_wait_seconds_bucket{le=\"+Inf\"} 3\n",
                        "larder_wait_seconds_sum 3600.205\n");
    }

    @Test
    void outcomesAreToldApartByALabel() throws IOException {
        counters.add(Counter.ASK_MISSES, 4);

        assertThat(text()).contains("larder_asks_total{outcome=\"miss\"} 4.0\n", "outcome=\"hit\"} 0.0\n");
    }
}
