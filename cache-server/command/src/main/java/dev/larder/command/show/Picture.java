package dev.larder.command.show;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;
import javax.imageio.ImageIO;

/**
 * Draws an array: {@code [n, h, w]} and {@code [n, h, w, 3]} as a grid of images, {@code [h, w]} as a heat map, all other shapes as a
 * histogram. Bytes are drawn unchanged, all other numbers from the smallest shown (black) to the largest (white).
 */
public final class Picture {
    private static final int MOST_PIXELS_A_SIDE = 4096;
    private static final int GAP = 1;
    private static final int BYTE_MAX = 255;
    private static final int BAR_WIDTH = 32;
    private static final int BAR_HEIGHT = 256;
    private static final int BACKGROUND = 0xffffff;
    private static final int BAR = 0x31688e;

    /** Viridis, the colour map of matplotlib, at nine points from low to high. */
    private static final int[] COLOURS = {
        0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725
    };

    private final Cells cells;
    private final long firstRow;
    private final int rows;
    private final int mostPixels;

    private Picture(Cells cells, long firstRow, int rows, int mostPixels) {
        this.cells = cells;
        this.firstRow = firstRow;
        this.rows = rows;
        this.mostPixels = mostPixels;
    }

    /** Returns whether an array is drawn as a grid of images. */
    public static boolean isGrid(long[] shape) {
        return shape.length == 3 || (shape.length == 4 && shape[3] == 3);
    }

    /** Returns a PNG file of images of a grid, or of a heat map with at most {@code mostPixels} a side. */
    public static byte[] png(Cells cells, long firstRow, long rows, int mostPixels) throws IOException {
        requireNumbers(cells);
        int shown = (int) Math.min(Integer.MAX_VALUE, rows);
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        ImageIO.setUseCache(false); // the cache would write to the temporary folder
        if (!ImageIO.write(new Picture(cells, firstRow, shown, mostPixels).draw(), "png", png)) {
            throw new IOException("no writer for PNG");
        }
        return png.toByteArray();
    }

    /** Draws some rows, or the histogram of all, and writes a PNG file. */
    public static void write(Cells cells, long firstRow, long rows, Path file) {
        try {
            // ImageIO would print a stack trace if it cannot open the file
            Files.write(file, png(cells, firstRow, rows, MOST_PIXELS_A_SIDE));
        } catch (IOException e) {
            throw cannotWrite(file, e);
        }
    }

    static LarderException cannotWrite(Path file, IOException reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot write the image")
                .with("file", file)
                .with("reason", reason)
                .cause(reason)
                .remedy("name a file in a folder that exists and can be written");
    }

    private static void requireNumbers(Cells cells) {
        System.setProperty("java.awt.headless", "true");
        if (!Statistics.arePossible(cells) || cells.elementCount() == 0) {
            throw Failure.of(ErrorCode.BAD_INPUT, "only arrays of numbers can be drawn")
                    .with("dtype", cells.dtype())
                    .with("shape", Arrays.toString(cells.shape()))
                    .exception();
        }
    }

    private BufferedImage draw() {
        long[] shape = cells.shape();
        if (isGrid(shape) && rows > 0) {
            return grid(shape);
        }
        return shape.length == 2 && rows > 0 ? heatMap(shape) : histogram();
    }

    private BufferedImage grid(long[] shape) {
        int height = side(shape[1]);
        int width = side(shape[2]);
        int columns = (int) Math.ceil(Math.sqrt((double) rows * height / Math.max(1, width)));
        columns = Math.max(1, Math.min(columns, rows));
        int lines = (rows + columns - 1) / columns;
        DoubleUnaryOperator scale = scale(shape);
        BufferedImage image = new BufferedImage(
                side((long) columns * (width + GAP) - GAP),
                side((long) lines * (height + GAP) - GAP),
                BufferedImage.TYPE_INT_RGB);
        for (int n = 0; n < rows; n++) {
            int left = n % columns * (width + GAP);
            int top = n / columns * (height + GAP);
            for (int y = 0; y < height; y++) {
                for (int x = 0; x < width; x++) {
                    image.setRGB(left + x, top + y, pixel(scale, n, y, x, shape.length));
                }
            }
        }
        return image;
    }

    private int pixel(DoubleUnaryOperator scale, int n, int y, int x, int dimensions) {
        long row = firstRow + n;
        if (dimensions == 3) {
            int grey = (int) scale.applyAsDouble(cells.number(row, y, x));
            return grey << 16 | grey << 8 | grey;
        }
        int red = (int) scale.applyAsDouble(cells.number(row, y, x, 0));
        int green = (int) scale.applyAsDouble(cells.number(row, y, x, 1));
        return red << 16 | green << 8 | (int) scale.applyAsDouble(cells.number(row, y, x, 2));
    }

    private static int side(long length) {
        if (length < 1 || length > MOST_PIXELS_A_SIDE) {
            throw Failure.of(ErrorCode.USAGE, "image has no size that can be drawn")
                    .with("pixels", length)
                    .with("limit", MOST_PIXELS_A_SIDE)
                    .remedy("choose fewer rows with --rows");
        }
        return (int) length;
    }

    /** Returns the function that maps values of the drawn rows to 0 to 255. */
    private DoubleUnaryOperator scale(long[] shape) {
        Dtype dtype = cells.dtype();
        if (dtype.kind() == Kind.UINT && dtype.itemSize() == 1) {
            return value -> value;
        }
        double[] range = {Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY};
        visit(shape, new long[shape.length], 0, range);
        double min = range[0];
        double width = range[1] > min ? range[1] - min : 1;
        return value ->
                Double.isNaN(value) ? 0 : Math.max(0, Math.min(BYTE_MAX, Math.rint((value - min) / width * BYTE_MAX)));
    }

    private void visit(long[] shape, long[] index, int axis, double[] range) {
        if (axis == shape.length) {
            double value = cells.number(index);
            if (Double.isFinite(value)) {
                range[0] = Math.min(range[0], value);
                range[1] = Math.max(range[1], value);
            }
            return;
        }
        long first = axis == 0 ? firstRow : 0;
        long length = axis == 0 ? rows : shape[axis];
        for (long i = first; i < first + length; i++) {
            index[axis] = i;
            visit(shape, index, axis + 1, range);
        }
    }

    /** Draws one pixel for each element, or evenly spaced elements if there are too many. */
    private BufferedImage heatMap(long[] shape) {
        int height = Math.min(rows, mostPixels);
        int width = (int) Math.min(shape[1], mostPixels);
        double[][] values = new double[height][width];
        double min = Double.POSITIVE_INFINITY;
        double max = Double.NEGATIVE_INFINITY;
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                double value = cells.number(firstRow + (long) y * rows / height, (long) x * shape[1] / width);
                values[y][x] = value;
                min = Double.isFinite(value) ? Math.min(min, value) : min;
                max = Double.isFinite(value) ? Math.max(max, value) : max;
            }
        }
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        double range = max > min ? max - min : 1;
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                image.setRGB(x, y, colour((values[y][x] - min) / range));
            }
        }
        return image;
    }

    /** Returns the colour for a number from 0 to 1; NaN is black. */
    static int colour(double value) {
        if (Double.isNaN(value)) {
            return 0;
        }
        double place = Math.max(0, Math.min(1, value)) * (COLOURS.length - 1);
        int low = Math.min(COLOURS.length - 2, (int) place);
        double part = place - low;
        int colour = 0;
        for (int shift = 16; shift >= 0; shift -= 8) {
            int from = COLOURS[low] >> shift & BYTE_MAX;
            int to = COLOURS[low + 1] >> shift & BYTE_MAX;
            colour |= (int) Math.round(from + (to - from) * part) << shift;
        }
        return colour;
    }

    private BufferedImage histogram() {
        int[] bars = Statistics.of(cells, bytes -> {}).histogram().bars(BAR_HEIGHT);
        BufferedImage image = new BufferedImage(bars.length * BAR_WIDTH, BAR_HEIGHT, BufferedImage.TYPE_INT_RGB);
        for (int x = 0; x < image.getWidth(); x++) {
            for (int y = 0; y < BAR_HEIGHT; y++) {
                boolean isBar = y >= BAR_HEIGHT - bars[x / BAR_WIDTH] && x % BAR_WIDTH != 0;
                image.setRGB(x, y, isBar ? BAR : BACKGROUND);
            }
        }
        return image;
    }
}
