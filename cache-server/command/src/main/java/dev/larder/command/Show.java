package dev.larder.command;

import com.google.gson.stream.JsonWriter;
import dev.larder.client.Column;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.command.options.NameConverter;
import dev.larder.command.show.ArrayRows;
import dev.larder.command.show.Cells;
import dev.larder.command.show.ColumnRows;
import dev.larder.command.show.Picture;
import dev.larder.command.show.RowRange;
import dev.larder.command.show.ShownRows;
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
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
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
            ShownRows all =
                    column == null ? new ArrayRows(dataset.array(array(dataset))) : ColumnRows.of(dataset, column);
            if (png != null) {
                draw(dataset, all, png);
                return 0;
            }
            RowRange range = rows == null ? FIRST_ROWS : rows;
            long first = range.first(all.count());
            long end = range.end(all.count());
            if (json) {
                printJson(all, first, end);
            } else {
                print(all, first, end);
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

    private void draw(Dataset dataset, ShownRows all, Path file) {
        if (all instanceof ArrayRows array) {
            draw(array.elements(), file);
        } else if (all instanceof ColumnRows column) {
            writeImage(dataset.name() + "/" + column.column().name(), column, file);
        }
    }

    private void draw(Cells cells, Path file) {
        RowRange range = rows != null ? rows : Picture.isGrid(cells.shape()) ? FIRST_IMAGES : ALL_ROWS;
        long first = range.first(cells.rows());
        Picture.write(cells, first, range.end(cells.rows()) - first, file);
        larder.err().println("larder: wrote " + file);
    }

    private void writeImage(String column, ColumnRows all, Path file) {
        if (!(all instanceof ColumnRows.Files files)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "only arrays and files of images can be drawn")
                    .with("column", column)
                    .with("kind", all.column().kind().word())
                    .remedy("larder ls '" + column + "/*' lists the arrays it is made of");
        }
        RowRange range = rows == null ? FIRST_ROW : rows;
        long row = range.first(files.count());
        if (range.end(files.count()) != row + 1) {
            throw Failure.of(ErrorCode.BAD_INPUT, "of a column one image is written at a time")
                    .with("column", column)
                    .with("rows", files.count())
                    .remedy("name its row: --rows N");
        }
        files.writeImage(row, file);
        larder.err().println("larder: wrote " + file + ": row " + row + ", the file as it is");
    }

    private void print(ShownRows all, long first, long end) {
        larder.out().println(all.head(first, end));
        all.lines(first, end).forEach(larder.out()::println);
        statistics(all).map(Statistics::lines).orElse(List.of()).forEach(larder.out()::println);
    }

    private void printJson(ShownRows all, long first, long end) {
        try {
            JsonWriter document = new JsonWriter(larder.out());
            document.beginObject();
            all.write(document, first, end);
            Statistics statistics = statistics(all).orElse(null);
            if (statistics != null) {
                statistics.write(document);
                statistics.histogram().write(document);
            }
            document.endObject().flush();
            larder.out().println();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sums up all elements, if they are numbers. Shows the progress if it takes long. */
    private Optional<Statistics> statistics(ShownRows all) {
        return all.cells().filter(Statistics::arePossible).map(cells -> {
            long begin = System.nanoTime();
            long[] done = {0};
            try (ProgressDisplay display = ProgressDisplay.on(larder.err())) {
                long total = Statistics.bytesToRead(cells);
                return Statistics.of(cells, bytes -> {
                    done[0] += bytes;
                    if (System.nanoTime() - begin > PATIENCE_NANOS) {
                        display.progress(new Progress(
                                Progress.Phase.OTHER, "summing up", done[0], total, 0, Progress.UNKNOWN, ""));
                    }
                });
            }
        });
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
