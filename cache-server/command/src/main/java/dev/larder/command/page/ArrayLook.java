package dev.larder.command.page;

import com.google.gson.stream.JsonWriter;
import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.command.show.ArrayDocument;
import dev.larder.command.show.Cells;
import dev.larder.command.show.Histogram;
import dev.larder.command.show.NumpyText;
import dev.larder.command.show.Picture;
import dev.larder.command.show.Statistics;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.server.Overview;
import dev.larder.server.http.HttpAnswer;
import dev.larder.server.http.HttpQuestion;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.stream.LongStream;

/**
 * Looks at an array that is resident: its first rows, what its elements are when summed up, and a picture. Reads a bounded number of
 * bytes; what is not resident is not loaded.
 */
final class ArrayLook {
    private static final int ROWS = 5;
    private static final int MOST_ROWS = 100;
    private static final long SUMMED_BYTES = 16 << 20;
    private static final int MOST_IMAGES = 64;
    private static final long MOST_PIXELS = 1 << 20;
    private static final int MOST_PIXELS_A_SIDE = 512;

    private final Overview overview;
    private final Path store;

    ArrayLook(Overview overview, Path store) {
        this.overview = overview;
        this.store = store;
    }

    /** What is done with an array while it is leased. */
    @FunctionalInterface
    private interface Reading {
        HttpAnswer of(ArrayView view) throws IOException;
    }

    /** Describes an array, as {@code larder show} does. */
    HttpAnswer describe(HttpQuestion question) {
        return read(question, view -> {
            Cells cells = new Cells(view);
            long length = view.dimensions() == 0 ? 1 : view.rows();
            long first = Math.min(length, question.number("from", 0, Integer.MAX_VALUE));
            long rows = Math.min(length - first, question.number("rows", ROWS, MOST_ROWS));
            StringWriter text = new StringWriter();
            JsonWriter document = new JsonWriter(text);
            document.beginObject();
            ArrayDocument.form(document, view);
            document.name("firstRow").value(first).name("rows").value(rows);
            document.name("text").value(text(cells, first, rows));
            document.name("images").value(images(view));
            summary(document, view);
            document.endObject().close();
            return HttpAnswer.json(text.toString());
        });
    }

    /** Returns what numpy would print, or why that cannot be shown. */
    private static String text(Cells cells, long first, long rows) {
        try {
            return String.join("\n", NumpyText.of(cells, first, rows));
        } catch (LarderException tooMuch) {
            return String.valueOf(tooMuch.getMessage());
        }
    }

    private static void summary(JsonWriter document, ArrayView view) throws IOException {
        Cells some = Cells.first(view, SUMMED_BYTES);
        if (Statistics.arePossible(some)) {
            Statistics statistics = Statistics.of(some, elements -> {});
            document.name("elements").value(view.elementCount());
            ArrayDocument.statistics(document, statistics);
            if (statistics.finiteCount() > 0) {
                ArrayDocument.histogram(document, Histogram.of(some, statistics, elements -> {}));
            }
        }
    }

    /** Returns how many images a picture of an array shows: 1 for a heat map, 0 where it cannot be drawn. */
    private static long images(ArrayView view) {
        long[] shape = view.shape();
        boolean isEmpty = LongStream.of(shape).anyMatch(extent -> extent == 0);
        if (isEmpty || !Statistics.arePossible(new Cells(view)) || !(Picture.isGrid(shape) || shape.length == 2)) {
            return 0;
        }
        if (shape.length == 2) {
            return 1;
        }
        long fitting = shape[1] > MOST_PIXELS || shape[2] > MOST_PIXELS ? 0 : MOST_PIXELS / (shape[1] * shape[2]);
        return Math.min(Math.min(MOST_IMAGES, fitting), shape[0]);
    }

    /** Draws the first images, or a heat map. */
    HttpAnswer draw(HttpQuestion question) {
        return read(question, view -> {
            long images = images(view);
            if (images == 0) {
                throw Failure.of(ErrorCode.NOT_FOUND, "the array has no picture")
                        .with("name", view.name())
                        .remedy("larder show " + view.name() + " shows its values");
            }
            long rows = view.shape().length == 2 ? view.rows() : images;
            return HttpAnswer.tagged(
                    "image/png",
                    Picture.png(new Cells(view), 0, Math.min(rows, Integer.MAX_VALUE), MOST_PIXELS_A_SIDE));
        });
    }

    /** Leases the version that is resident now: the client alone would have it loaded again where it leaves meanwhile. */
    private HttpAnswer read(HttpQuestion question, Reading reading) {
        String name = question.text("name");
        ArrayRow row = overview.arrays(name).stream()
                .filter(known -> known.name().equals(name) && !known.path().isEmpty())
                .findFirst()
                .orElseThrow(() -> notResident(name));
        if (row.state() == ArrayRow.State.MAPPED) { // its file is not ours: the JVM that maps it may get SIGBUS
            throw Failure.of(ErrorCode.USAGE, "the daemon does not look into files that lie outside of its store")
                    .with("name", name)
                    .with("file", row.path())
                    .remedy("larder show " + name);
        }
        String dataset = name.substring(0, name.indexOf('/'));
        Posix posix = Posix.system();
        int lease = posix.openForReading(
                new StoreLayout(store).version(dataset, row.version()).resolve(StoreLayout.LEASE));
        try {
            if (!posix.tryLockShared(lease) || !posix.status(lease).isLinked()) {
                throw notResident(name);
            }
            try (Larder larder = Larder.connect(store);
                    Dataset held = larder.dataset(dataset, row.version())) {
                return reading.of(held.array(name.substring(dataset.length() + 1)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            posix.close(lease);
        }
    }

    private static LarderException notResident(String name) {
        return Failure.of(ErrorCode.NOT_FOUND, "no such array is resident")
                .with("name", name)
                .remedy("larder ls lists all");
    }
}
