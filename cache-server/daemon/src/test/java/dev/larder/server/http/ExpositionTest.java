package dev.larder.server.http;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.server.loaders.Bottleneck;
import dev.larder.server.loaders.Cause;
import dev.larder.server.loaders.LoaderRow;
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
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ExpositionTest {
    private static final Path METRICS = Path.of("../../ops/docs/reference/METRICS.md");
    private static final Path ALERTS = Path.of("../../ops/prometheus/larder.rules.yaml");
    private static final Path DASHBOARD = Path.of("../../ops/prometheus/larder.dashboard.json");
    private static final Pattern FAMILY = Pattern.compile("(?m)^# HELP (\\S+) (.*)\\.\\n# TYPE \\S+ (\\S+)$");
    private static final Pattern TABLE = Pattern.compile("\\|---\\|---\\|---\\|---\\|\\n((?:\\|.*\\n)+)");
    private static final Pattern LABEL = Pattern.compile("([a-z]+)=\"");

    private final Counters counters = Counters.unshared();
    private final Exposition exposition = new Exposition(
            counters,
            () -> List.of(
                    new VersionUse("a \"b\"\n", 3, 4096, false, true, true, List.of(7L, 8L)),
                    new VersionUse("old", 1, 512, true, false, true, List.of())),
            () -> List.of(new LoaderRow(
                    "7-1f",
                    7,
                    70,
                    "java",
                    "mnist",
                    "",
                    2,
                    4,
                    10,
                    1.5,
                    new Bottleneck(Map.of(Cause.DECODE, 0.75), Cause.DECODE, 0.75, "decode"))));

    private String text() throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        MetricSnapshots snapshots = exposition.snapshots();
        PrometheusTextFormatWriter.create().write(text, snapshots);
        return text.toString(StandardCharsets.UTF_8);
    }

    /** Writes the table with {@code -Dlarder.docs=write}. */
    @Test
    void theDocumentedTableIsThatOfTheFamilies() throws IOException {
        String page = Files.readString(METRICS);
        Matcher table = TABLE.matcher(page);
        assertThat(table.find()).isTrue();
        String rows = table();

        if ("write".equals(System.getProperty("larder.docs"))) {
            Files.writeString(METRICS, page.substring(0, table.start(1)) + rows + page.substring(table.end(1)));
        } else {
            assertThat(table.group(1))
                    .as("run this test with -Dlarder.docs=write")
                    .isEqualTo(rows);
        }
        assertThat(rows.lines()).hasSizeGreaterThan(20);
    }

    private String table() throws IOException {
        String text = text();
        return FAMILY.matcher(text)
                .results()
                .map(family -> "| `" + family.group(1) + "` | " + family.group(3) + " | "
                        + labels(text, family.group(1)).stream()
                                .map(label -> "`" + label + "` ")
                                .collect(joining())
                        + "| " + family.group(2).replace("|", "\\|") + " |\n")
                .collect(joining());
    }

    private static Set<String> labels(String text, String name) {
        Pattern series = Pattern.compile("(?m)^" + name + "\\{(.*)} ");
        return series.matcher(text)
                .results()
                .flatMap(line -> names(line.group(1), LABEL).stream())
                .collect(toCollection(TreeSet::new));
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
