package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import java.util.Map;
import java.util.regex.Pattern;

/** Reads the element type and shape that a user gives, as numpy would: {@code uint8}, {@code f4}, {@code >i2}. */
public final class WantedType {
    private static final Map<String, String> NAMES = Map.ofEntries(
            Map.entry("bool", "|b1"),
            Map.entry("int8", "|i1"),
            Map.entry("int16", "<i2"),
            Map.entry("int32", "<i4"),
            Map.entry("int64", "<i8"),
            Map.entry("uint8", "|u1"),
            Map.entry("uint16", "<u2"),
            Map.entry("uint32", "<u4"),
            Map.entry("uint64", "<u8"),
            Map.entry("float16", "<f2"),
            Map.entry("float32", "<f4"),
            Map.entry("float64", "<f8"),
            Map.entry("complex64", "<c8"),
            Map.entry("complex128", "<c16"),
            Map.entry("int", "<i8"),
            Map.entry("float", "<f8"));
    private static final Pattern WITHOUT_ORDER = Pattern.compile("[biufcSUVMm][0-9]+.*");
    private static final Pattern SHAPE = Pattern.compile("(-1|[0-9]{1,18})(,(-1|[0-9]{1,18}))*,?");

    private WantedType() {}

    /** Fails with {@link ErrorCode#USAGE} if these cannot be used together. */
    static void require(String dtype, String shape) {
        if (dtype.isEmpty()) {
            if (!shape.isEmpty()) {
                throw Failure.of(ErrorCode.USAGE, "--shape without --dtype")
                        .with("shape", Names.printable(shape))
                        .remedy("name the element type, as in --dtype uint8");
            }
            return;
        }
        dtype(dtype);
        shape(shape);
    }

    /** Reads a type. It is little-endian if the text has no order. */
    public static Dtype dtype(String text) {
        String descr = NAMES.getOrDefault(text, text);
        if (WITHOUT_ORDER.matcher(descr).matches()) {
            boolean ordered = !descr.endsWith("1") || descr.length() > 2;
            descr = (descr.charAt(0) == 'S' || descr.charAt(0) == 'V' || !ordered ? '|' : '<') + descr;
        }
        try {
            return Dtype.parse(descr.replace('=', '<'));
        } catch (LarderException e) {
            throw Failure.of(ErrorCode.USAGE, "bad dtype")
                    .with("dtype", Names.printable(text))
                    .cause(e)
                    .remedy("give a type as numpy names it, as in --dtype uint8 or --dtype '>f4'");
        }
    }

    /** Reads a shape. One number may be -1, and an empty text means one -1. */
    public static long[] shape(String text) {
        String numbers = text.isEmpty() ? "-1" : text.replaceAll("[()\\s]", "");
        if (!SHAPE.matcher(numbers).matches()) {
            throw badShape(text, "numbers of 0 and more, with commas between them");
        }
        String[] words = numbers.split(",", -1);
        int dimensions = words[words.length - 1].isEmpty() ? words.length - 1 : words.length;
        if (dimensions > NpyHeader.MAX_DIMENSIONS) {
            throw badShape(text, "at most " + NpyHeader.MAX_DIMENSIONS + " numbers");
        }
        long[] shape = new long[dimensions];
        int open = 0;
        for (int i = 0; i < dimensions; i++) {
            shape[i] = Long.parseLong(words[i]);
            open += shape[i] < 0 ? 1 : 0;
        }
        if (open > 1) {
            throw badShape(text, "only one -1");
        }
        return shape;
    }

    private static LarderException badShape(String text, String wanted) {
        return Failure.of(ErrorCode.USAGE, "bad shape")
                .with("shape", Names.printable(text))
                .remedy("give " + wanted + ", as in --shape -1,28,28");
    }
}
