package dev.larder.command.page;

import com.google.gson.stream.JsonWriter;
import dev.larder.client.ArrayView;
import dev.larder.client.BytesColumn;
import dev.larder.client.Column;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.command.show.ArrayRows;
import dev.larder.command.show.Cells;
import dev.larder.command.show.ColumnRows;
import dev.larder.command.show.Picture;
import dev.larder.command.show.ShownRows;
import dev.larder.command.show.Statistics;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.server.Overview;
import dev.larder.server.http.HttpAnswer;
import dev.larder.server.http.HttpQuery;
import dev.larder.server.source.formats.ImageFormat;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.agrona.DirectBuffer;

/**
 * Shows a resident array: its first rows, statistics of its elements, and a picture. Reads a bounded number of bytes, and loads no
 * dataset.
 */
final class ArrayLook {
    private static final int ROWS = 5;
    private static final int MOST_ROWS = 100;
    private static final long SUMMED_BYTES = 16 << 20;
    private static final int MOST_IMAGES = 64;
    private static final long MOST_PIXELS = 1 << 20;
    private static final int MOST_PIXELS_A_SIDE = 512;
    private static final int MOST_FILES = 24;
    private static final int MOST_FILE_BYTES = 4 << 20;
    private static final int MAGIC_BYTES = 12;

    private final Overview overview;
    private final Path store;

    ArrayLook(Overview overview, Path store) {
        this.overview = overview;
        this.store = store;
    }

    /** Computes an answer from an array while it is leased. */
    @FunctionalInterface
    private interface Reading {
        /** @param column the column that the array is part of; empty for none */
        HttpAnswer of(ArrayView view, Dataset dataset, Optional<Column> column) throws IOException;
    }

    /** Describes an array, as {@code larder show} does. */
    HttpAnswer describe(HttpQuery question) {
        return read(question, (view, dataset, column) -> {
            ArrayRows array = new ArrayRows(view);
            ShownRows all = column.<ShownRows>map(known -> ColumnRows.of(dataset, known))
                    .orElse(array);
            long first = Math.min(all.count(), question.number("from", 0, Integer.MAX_VALUE));
            long rows = Math.min(all.count() - first, question.number("rows", ROWS, MOST_ROWS));
            StringWriter text = new StringWriter();
            JsonWriter document = new JsonWriter(text);
            document.beginObject();
            array.form(document);
            document.name("firstRow").value(first).name("rows").value(rows);
            if (column.isPresent()) {
                Column known = column.orElseThrow();
                document.name("column").value(known.kind().word());
                document.name("columnRows").value(all.count());
                document.name("files")
                        .value(known.kind() == Column.Kind.BYTES ? files(dataset.bytes(known.name())) : 0);
            }
            document.name("text").value(text(all, first, first + rows));
            document.name("images").value(column.isPresent() ? 0 : images(view));
            if (column.isEmpty()) {
                summary(document, view);
            }
            document.endObject().close();
            return HttpAnswer.json(text.toString());
        });
    }

    /** Returns the lines of some rows, or why they cannot be shown. */
    private static String text(ShownRows all, long first, long end) {
        try {
            return all.lines(first, end).collect(Collectors.joining("\n"));
        } catch (LarderException tooMuch) {
            return String.valueOf(tooMuch.getMessage());
        }
    }

    /** Returns how many of the first rows of a column are images that a browser shows. */
    private static long files(BytesColumn column) {
        return LongStream.range(0, Math.min(MOST_FILES, column.rows()))
                .takeWhile(row -> !imageType(column, row).isEmpty())
                .count();
    }

    /** Returns the media type of an image without scripts; empty for all other files, and large ones. */
    private static String imageType(BytesColumn column, long row) {
        DirectBuffer file = column.row(row);
        byte[] beginning = new byte[Math.min(MAGIC_BYTES, file.capacity())];
        file.getBytes(0, beginning);
        return ImageFormat.of(ByteBuffer.wrap(beginning))
                .filter(format -> file.capacity() <= MOST_FILE_BYTES)
                .map(ArrayLook::imageType)
                .orElse("");
    }

    private static String imageType(ImageFormat format) {
        return switch (format) {
            case JPEG -> "image/jpeg";
            case PNG -> "image/png";
            case GIF -> "image/gif";
            case WEBP -> "image/webp";
            case BMP, TIFF_LITTLE_ENDIAN, TIFF_BIG_ENDIAN -> "";
        };
    }

    /** Sends an image of a column of files unchanged. The daemon does not decode it; the browser does. */
    HttpAnswer file(HttpQuery question) {
        return read(question, (view, dataset, column) -> {
            BytesColumn files = column.filter(known -> known.kind() == Column.Kind.BYTES)
                    .map(known -> dataset.bytes(known.name()))
                    .orElseThrow(() -> noPicture(view));
            int row = question.number("row", 0, Integer.MAX_VALUE);
            String type = row < files.rows() ? imageType(files, row) : "";
            if (type.isEmpty()) {
                throw noPicture(view);
            }
            DirectBuffer file = files.row(row);
            byte[] bytes = new byte[file.capacity()];
            file.getBytes(0, bytes);
            return HttpAnswer.tagged(type, bytes);
        });
    }

    private static LarderException noPicture(ArrayView view) {
        return Failure.of(ErrorCode.NOT_FOUND, "the array has no picture")
                .with("name", view.name())
                .remedy("larder show " + view.name() + " shows its values");
    }

    private static void summary(JsonWriter document, ArrayView view) throws IOException {
        Cells some = Cells.first(view, SUMMED_BYTES);
        if (Statistics.arePossible(some)) {
            Statistics statistics = Statistics.of(some, bytes -> {});
            document.name("elements").value(view.elementCount());
            statistics.write(document);
            if (statistics.finiteCount() > 0) {
                statistics.histogram().write(document);
            }
        }
    }

    /** Returns the number of images in a picture of an array: 1 for a heat map, 0 if it cannot be drawn. */
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
    HttpAnswer draw(HttpQuery question) {
        return read(question, (view, dataset, column) -> {
            long images = images(view);
            if (images == 0) {
                throw noPicture(view);
            }
            long rows = view.shape().length == 2 ? view.rows() : images;
            return HttpAnswer.tagged(
                    "image/png",
                    Picture.png(new Cells(view), 0, Math.min(rows, Integer.MAX_VALUE), MOST_PIXELS_A_SIDE));
        });
    }

    /** Leases the resident version. The client alone would load it again if it is evicted at this moment. */
    private HttpAnswer read(HttpQuery question, Reading reading) {
        String name = question.text("name");
        ArrayRow row = overview.arrays(name).stream()
                .filter(known -> known.name().equals(name) && !known.path().isEmpty())
                .findFirst()
                .orElseThrow(() -> notResident(name));
        if (row.state() == ArrayRow.State.MAPPED) { // if another process shortens its file, this JVM gets SIGBUS
            throw Failure.of(ErrorCode.USAGE, "the daemon does not read files outside of its store")
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
                String array = name.substring(dataset.length() + 1);
                Optional<Column> column = held.columns().stream()
                        .filter(known -> row.part() != ColumnPart.NONE
                                && known.name().equals(row.part().columnName(array)))
                        .findFirst();
                return reading.of(held.array(array), held, column);
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
