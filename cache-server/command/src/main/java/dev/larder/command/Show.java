package dev.larder.command;

import com.google.gson.stream.JsonWriter;
import dev.larder.client.ArrayView;
import dev.larder.client.Column;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.command.options.NameConverter;
import dev.larder.command.output.ArrayText;
import dev.larder.command.show.ArrayDocument;
import dev.larder.command.show.Cells;
import dev.larder.command.show.ColumnRows;
import dev.larder.command.show.Histogram;
import dev.larder.command.show.NumpyText;
import dev.larder.command.show.Picture;
import dev.larder.command.show.RowRange;
import dev.larder.command.show.ShowJson;
import dev.larder.command.show.Statistics;
import dev.larder.command.terminal.ProgressDisplay;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.NearNames;
import dev.larder.internal.protocol.Progress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.TypeConversionException;

/** Shows the values of an array. */
@Command(
        name = "show",
        description = {
            "Show values of an array as numpy prints them, or rows of a column as strings, arrays, keys or files.",
            "For numbers, also shows minimum, maximum, mean, standard deviation and a histogram of all values. NaN"
                    + " and infinite values are counted and left out, except that the minimum and the maximum can be"
                    + " infinite.",
            "--png draws [n,h,w] and [n,h,w,3] as a grid of images, [h,w] as a heat map, anything else as a histogram."
                    + " Of a column of image files it writes one as it is: --rows N, or the first."
        })
final class Show implements Callable<Integer> {
    private static final String CLASSES = "classes";
    private static final RowRange FIRST_ROW = new RowRange("0");
    private static final RowRange FIRST_ROWS = new RowRange("0:5");
    private static final RowRange FIRST_IMAGES = new RowRange("0:64");
    private static final RowRange ALL_ROWS = new RowRange(":");
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    @ParentCommand
    LarderCommand larder;

    @Parameters(
            paramLabel = "NAME",
            converter = NameConverter.class,
            description = "dataset/array or dataset/column, or a dataset with only one.")
    String name;

    @Option(
            names = "--rows",
            paramLabel = "FROM:TO",
            converter = RowsConverter.class,
            description =
                    "Rows to show, as Python writes them (default: 0:5; of images to draw 0:64, of image files 0).")
    @Nullable
    RowRange rows;

    @Option(names = "--json", description = "Print one JSON document.")
    boolean json;

    @Option(names = "--png", paramLabel = "FILE", description = "Write an image instead.")
    @Nullable
    Path png;

    @Override
    public Integer call() {
        try (Larder store = Larder.connect(larder.store());
                Dataset dataset = store.dataset(Names.datasetIn(name))) {
            Column column = column(dataset);
            if (column != null) {
                show(dataset, column);
            } else {
                show(dataset.array(array(dataset)));
            }
        }
        return 0;
    }

    /** Returns the named column; null if the name is an array. */
    private @Nullable Column column(Dataset dataset) {
        List<Column> columns = dataset.columns();
        String wanted = Names.arrayIn(name);
        if (wanted != null) {
            return columns.stream()
                    .filter(column -> column.name().equals(wanted))
                    .findFirst()
                    .orElse(null);
        }
        return columns.size() == 1 && isAlone(columns.get(0), dataset) ? columns.get(0) : null;
    }

    private static boolean isAlone(Column column, Dataset dataset) {
        return dataset.arrayNames().stream().allMatch(array -> array.startsWith(column.name() + "/"));
    }

    /** Returns the names to choose from: columns, then other arrays. The names of classes, which are no samples, come last. */
    private static List<String> choices(Dataset dataset) {
        List<String> columns = dataset.columns().stream().map(Column::name).toList();
        Stream<String> others = dataset.arrayNames().stream()
                .filter(array -> columns.stream().noneMatch(column -> array.startsWith(column + "/")));
        return Stream.concat(columns.stream(), others)
                .sorted(Comparator.comparing(name -> name.equals(CLASSES) || name.endsWith("." + CLASSES)))
                .toList();
    }

    private String array(Dataset dataset) {
        String wanted = Names.arrayIn(name);
        List<String> arrays = dataset.arrayNames();
        if (wanted == null && arrays.size() != 1) {
            throw NearNames.notOneArray(larder.store(), dataset.name(), arrays.size(), choices(dataset));
        }
        return wanted == null ? arrays.get(0) : wanted;
    }

    private void show(ArrayView view) {
        Cells cells = new Cells(view);
        if (png != null) {
            draw(cells, png);
        } else if (json) {
            printJson(view, cells);
        } else {
            print(view, cells);
        }
    }

    private void show(Dataset dataset, Column column) {
        ColumnRows all = ColumnRows.of(dataset, column);
        if (png != null) {
            writeImage(dataset, column, all, png);
            return;
        }
        RowRange range = rows == null ? FIRST_ROWS : rows;
        if (json) {
            printJson(column, all, range);
        } else {
            print(column, all, range);
        }
    }

    private void writeImage(Dataset dataset, Column column, ColumnRows all, Path file) {
        if (!(all instanceof ColumnRows.Files files)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "only arrays and files of images can be drawn")
                    .with("column", dataset.name() + "/" + column.name())
                    .with("kind", column.kind().word())
                    .remedy("larder ls '" + dataset.name() + "/" + column.name()
                            + "/*' lists the arrays it is made of");
        }
        RowRange range = rows == null ? FIRST_ROW : rows;
        long row = range.first(files.count());
        if (range.end(files.count()) != row + 1) {
            throw Failure.of(ErrorCode.BAD_INPUT, "of a column one image is written at a time")
                    .with("column", dataset.name() + "/" + column.name())
                    .with("rows", files.count())
                    .remedy("name its row: --rows N");
        }
        files.writeImage(row, file);
        larder.err().println("larder: wrote " + file + ": row " + row + ", the file as it is");
    }

    private void print(Column column, ColumnRows all, RowRange range) {
        long first = range.first(all.count());
        long end = range.end(all.count());
        String what = column.kind() == Column.Kind.INDEX ? "keys" : "rows";
        String shown = end - first == all.count() ? "" : " shown=" + first + ":" + end;
        String dtype = all.elements().map(view -> " dtype=" + view.dtype()).orElse("");
        larder.out()
                .println(column.name() + " column=" + column.kind().word() + dtype + " " + what + "=" + all.count()
                        + shown);
        int width = Long.toString(Math.max(0, end - 1)).length();
        for (long row = first; row < end; row++) {
            String indent = String.format("%" + width + "d  ", row);
            for (String line : all.lines(row)) {
                larder.out().println(indent + line);
                indent = " ".repeat(indent.length());
            }
        }
        all.elements().ifPresent(view -> printNumbers(view, new Cells(view)));
    }

    private void printJson(Column column, ColumnRows all, RowRange range) {
        long first = range.first(all.count());
        long end = range.end(all.count());
        try {
            JsonWriter document = new JsonWriter(larder.out());
            document.beginObject().name("name").value(column.name());
            document.name("column").value(column.kind().word());
            document.name("rows")
                    .value(all.count())
                    .name("firstRow")
                    .value(first)
                    .name("values");
            document.beginArray();
            for (long row = first; row < end; row++) {
                all.write(document, row);
            }
            document.endArray();
            if (all.elements().isPresent()) {
                ArrayView view = all.elements().orElseThrow();
                document.name("dtype").jsonValue(view.dtype().descrJson());
                writeNumbers(document, view, new Cells(view));
            }
            document.endObject().flush();
            larder.out().println();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void draw(Cells cells, Path file) {
        long[] shape = cells.shape();
        long length = shape.length == 0 ? 1 : shape[0];
        RowRange range = rows != null ? rows : Picture.isGrid(shape) ? FIRST_IMAGES : ALL_ROWS;
        Picture.write(cells, range.first(length), range.end(length) - range.first(length), file);
        larder.err().println("larder: wrote " + file);
    }

    private void print(ArrayView view, Cells cells) {
        long length = view.dimensions() == 0 ? 1 : view.rows();
        RowRange range = rows == null ? FIRST_ROWS : rows;
        long first = range.first(length);
        long end = range.end(length);
        String shape = ArrayText.shape(LongStream.of(view.shape()).boxed().collect(Collectors.toList()));
        String shown =
                view.dimensions() == 0 || end - first == length ? "" : " rows=" + first + ":" + end + " of " + length;
        larder.out()
                .println(view.name() + " dtype=" + view.dtype() + " shape=" + shape + " order=" + view.order() + shown);
        NumpyText.of(cells, first, end - first).forEach(larder.out()::println);
        printNumbers(view, cells);
    }

    private void printNumbers(ArrayView view, Cells cells) {
        if (Statistics.arePossible(cells)) {
            Statistics statistics = measured(view, "summing up", told -> Statistics.of(cells, told));
            print(statistics);
            if (statistics.finiteCount() > 0) {
                measured(view, "counting", told -> Histogram.of(cells, statistics, told))
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
        long length = view.dimensions() == 0 ? 1 : view.rows();
        RowRange range = rows == null ? FIRST_ROWS : rows;
        long first = range.first(length);
        try {
            JsonWriter document = new JsonWriter(larder.out());
            document.beginObject();
            ArrayDocument.form(document, view);
            document.name("firstRow").value(first).name("values");
            ShowJson.rows(document, cells, first, range.end(length) - first);
            writeNumbers(document, view, cells);
            document.endObject().flush();
            larder.out().println();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void writeNumbers(JsonWriter document, ArrayView view, Cells cells) throws IOException {
        if (Statistics.arePossible(cells)) {
            Statistics statistics = measured(view, "summing up", told -> Statistics.of(cells, told));
            ArrayDocument.statistics(document, statistics);
            ArrayDocument.histogram(
                    document, measured(view, "counting", told -> Histogram.of(cells, statistics, told)));
        }
    }

    /** Runs a function over all elements, and shows its progress if it takes long. */
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
