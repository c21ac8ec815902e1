package dev.larder.reader;

import dev.larder.message.OptionalField;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * One array of a source.
 *
 * @param name its name within the dataset
 * @param part the part that it plays in a column, as FORMAT.md names it in capitals, such as {@code STRINGS_BYTES}; {@code NONE} for a plain array
 * @param dtype the type of its elements as numpy describes it, such as {@code <f4}
 * @param file the number of the file that has its bytes in the stored form; {@link #WRITTEN} if the reader writes them
 * @param offset the place in that file
 */
public record Offer(
        String name,
        String part,
        String dtype,
        List<Long> shape,
        @OptionalField(orElse = Offer.WRITTEN) int file,
        @OptionalField long offset) {
    /** Stands for no file. */
    public static final int WRITTEN = -1;

    private static final String OFFSETS = "<i8";

    /** Copies the shape; refuses very long names and very many dimensions. */
    public Offer {
        WireLimits.requireShort(name);
        WireLimits.requireShort(part);
        WireLimits.requireShort(dtype);
        WireLimits.requireAtMost(WireLimits.MOST_DIMENSIONS, shape.size(), "dimensions");
        shape = List.copyOf(shape);
    }

    /** Offers a plain array. */
    public static Offer array(String name, String dtype, List<Long> shape) {
        return new Offer(name, "NONE", dtype, shape, WRITTEN, 0);
    }

    /** Returns the same array with its bytes in a file, in C order. */
    public Offer lyingIn(int newFile, long newOffset) {
        return new Offer(name, part, dtype, shape, newFile, newOffset);
    }

    /** Offers a column of texts: UTF-8 bytes, then the offsets of its rows. */
    public static List<Offer> strings(String column, long rows, long bytes) {
        return List.of(part(column, "STRINGS_BYTES", "|u1", bytes), part(column, "STRINGS_OFFSETS", OFFSETS, rows + 1));
    }

    /** Offers a column of raw bytes: the values, then the offsets of its rows. */
    public static List<Offer> bytes(String column, long rows, long bytes) {
        return List.of(part(column, "BYTES_VALUES", "|u1", bytes), part(column, "BYTES_OFFSETS", OFFSETS, rows + 1));
    }

    /** Offers a ragged column of rows with one dimension: the values, the offsets of the rows, their lengths. */
    public static List<Offer> ragged(String column, String dtype, long rows, long elements) {
        return ragged(column, dtype, rows, elements, 1);
    }

    /** Offers a ragged column with this many dimensions for each row: its values, the offsets of its rows, their shapes. */
    public static List<Offer> ragged(String column, String dtype, long rows, long elements, int dimensions) {
        return List.of(
                part(column, "RAGGED_VALUES", dtype, elements),
                part(column, "RAGGED_OFFSETS", OFFSETS, rows + 1),
                part(column, "RAGGED_SHAPES", OFFSETS, rows, dimensions));
    }

    private static Offer part(String column, String part, String dtype, long... shape) {
        String suffix = part.substring(part.indexOf('_') + 1).toLowerCase(Locale.ROOT);
        return new Offer(
                column + "/" + suffix, part, dtype, Arrays.stream(shape).boxed().toList(), WRITTEN, 0);
    }

    /** Returns the name of the array or column that it belongs to. */
    public String column() {
        return part.equals("NONE") ? name : name.substring(0, name.lastIndexOf('/'));
    }
}
