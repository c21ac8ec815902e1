package dev.larder.command;

import com.google.gson.stream.JsonWriter;
import dev.larder.client.ArrayView;
import dev.larder.client.Larder;
import dev.larder.command.show.Cells;
import dev.larder.command.show.Histogram;
import dev.larder.command.show.NumpyText;
import dev.larder.command.show.Picture;
import dev.larder.command.show.RowRange;
import dev.larder.command.show.ShowJson;
import dev.larder.command.show.Statistics;
import dev.larder.protocol.Progress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.TypeConversionException;

/** Shows what is in an array. */
@Command(
        name = "show",
        description = {
            "Show values of an array as numpy prints them, and smallest, largest, mean, standard deviation and a histogram of"
                    + " all of it. NaN is counted, and left out of the rest; so are infinite values, except that they can be"
                    + " smallest and largest.",
            "--png draws [n,h,w] and [n,h,w,3] as a grid of images, [h,w] as a heat map, anything else as a histogram."
        })
final class Show implements Callable<Integer> {
    private static final RowRange FIRST_ROWS = new RowRange("0:5");
    private static final RowRange FIRST_IMAGES = new RowRange("0:64");
    private static final RowRange ALL_ROWS = new RowRange(":");
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    @ParentCommand
    LarderCommand larder;

    @Parameters(paramLabel = "NAME", description = "dataset/array, or a dataset with one array.")
    String name;

    @Option(
            names = "--rows",
            paramLabel = "FROM:TO",
            converter = RowsConverter.class,
            description = "Rows to show, as Python writes them (default: 0:5; of images to draw 0:64).")
    @Nullable
    RowRange rows;

    @Option(names = "--json", description = "Print one JSON document.")
    boolean json;

    @Option(names = "--png", paramLabel = "FILE", description = "Write a picture instead.")
    @Nullable
    Path png;

    @Override
    public Integer call() {
        try (Larder store = Larder.connect(larder.store());
                ArrayView view = store.open(name)) {
            Cells cells = new Cells(view);
            if (png != null) {
                draw(cells, png);
            } else if (json) {
                printJson(view, cells);
            } else {
                print(view, cells);
            }
        }
        return 0;
    }

    private void draw(Cells cells, Path file) {
        long[] shape = cells.shape();
        long length = shape.length == 0 ? 1 : shape[0];
        RowRange range = rows != null ? rows : Picture.isGrid(shape) ? FIRST_IMAGES : ALL_ROWS;
        Picture.write(cells, range.first(length), range.end(length) - range.first(length), file);
        larder.err().println("larder: wrote " + file);
    }

    private void print(ArrayView view, Cells cells) {
        long length = view.rank() == 0 ? 1 : view.rows();
        RowRange range = rows == null ? FIRST_ROWS : rows;
        long first = range.first(length);
        long end = range.end(length);
        String shape = ArrayText.shape(LongStream.of(view.shape()).boxed().collect(Collectors.toList()));
        String shown = view.rank() == 0 || end - first == length ? "" : " rows=" + first + ":" + end + " of " + length;
        larder.out()
                .println(view.name() + " dtype=" + view.dtype() + " shape=" + shape + " order=" + view.order() + shown);
        NumpyText.of(cells, first, end - first).forEach(larder.out()::println);
        if (Statistics.arePossible(cells)) {
            Statistics statistics = measured(view, "summing up", told -> Statistics.of(cells, told));
            print(statistics);
            if (statistics.finiteCount() > 0) {
                measured(view, "counting", told -> Histogram.of(cells, told))
                        .lines()
                        .forEach(larder.out()::println);
            }
        }
    }

    private void print(Statistics statistics) {
        String infinite = statistics.infiniteCount() == 0 ? "" : " inf=" + statistics.infiniteCount();
        larder.out()
                .println("min=" + statistics.minText() + " max=" + statistics.maxText() + " mean="
                        + Statistics.number(statistics.mean()) + " std=" + Statistics.number(statistics.std())
                        + " count=" + statistics.count() + " nan=" + statistics.nanCount() + infinite);
    }

    private void printJson(ArrayView view, Cells cells) {
        long length = view.rank() == 0 ? 1 : view.rows();
        RowRange range = rows == null ? FIRST_ROWS : rows;
        long first = range.first(length);
        try {
            JsonWriter document = new JsonWriter(larder.out());
            document.beginObject().name("name").value(view.name());
            document.name("dtype").jsonValue(view.dtype().descrJson());
            document.name("shape").beginArray();
            for (long extent : view.shape()) {
                document.value(extent);
            }
            document.endArray().name("order").value(view.order().name());
            document.name("firstRow").value(first).name("values");
            ShowJson.rows(document, cells, first, range.end(length) - first);
            if (Statistics.arePossible(cells)) {
                writeStatistics(document, measured(view, "summing up", told -> Statistics.of(cells, told)));
                writeHistogram(document, measured(view, "counting", told -> Histogram.of(cells, told)));
            }
            document.endObject().flush();
            larder.out().println();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void writeStatistics(JsonWriter json, Statistics statistics) throws IOException {
        json.name("count").value(statistics.count());
        json.name("nanCount").value(statistics.nanCount());
        json.name("infiniteCount").value(statistics.infiniteCount());
        if (statistics.areIntegers()) {
            json.name("min").jsonValue(statistics.minText());
            json.name("max").jsonValue(statistics.maxText());
        } else {
            ShowJson.number(json.name("min"), statistics.min());
            ShowJson.number(json.name("max"), statistics.max());
        }
        ShowJson.number(json.name("mean"), statistics.mean());
        ShowJson.number(json.name("std"), statistics.std());
    }

    private static void writeHistogram(JsonWriter json, Histogram histogram) throws IOException {
        json.name("histogram").beginObject().name("edges").beginArray();
        for (double edge : histogram.edges()) {
            json.value(edge);
        }
        json.endArray().name("counts").beginArray();
        for (long count : histogram.counts()) {
            json.value(count);
        }
        json.endArray().endObject();
    }

    /** Does something with all elements, and tells how far it is where that takes long. */
    private <T> T measured(ArrayView view, String what, Function<LongConsumer, T> work) {
        long begin = System.nanoTime();
        long[] done = {0};
        try (ProgressDisplay display = ProgressDisplay.on(larder.err())) {
            return work.apply(elements -> {
                done[0] += elements * view.dtype().itemSize();
                if (System.nanoTime() - begin > PATIENCE_NANOS) {
                    display.progress(new Progress(
                            Progress.Phase.OTHER, what, done[0], view.byteSize(), 0, Progress.UNKNOWN, ""));
                }
            });
        }
    }

    /** Reads rows for picocli. */
    static final class RowsConverter implements ITypeConverter<RowRange> {
        @Override
        public RowRange convert(String text) {
            try {
                return new RowRange(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }
}
