package dev.larder.readers.zarr;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import dev.larder.reader.BadSource;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Converts the value of elements that were never written. */
final class FillBytes {
    private static final Pattern HEX = Pattern.compile("0x[0-9a-fA-F]{1,16}");
    private static final int MOST_DIGITS = 20;
    private static final String NO_TIME = "NaT";
    private static final int HALF_MANTISSA_BITS = 10;
    private static final int HALF_INFINITY = 0x7c00;
    private static final int HALF_NAN = 0x7e00;

    private FillBytes() {}

    /** Returns the bytes of an element; null for zeros. */
    static byte @Nullable [] of(@Nullable JsonElement value, Element element, Place place) throws BadSource {
        if (value == null) {
            return null;
        }
        if (element.hasAnyLength()) {
            boolean isText =
                    value.isJsonPrimitive() && value.getAsJsonPrimitive().isString();
            return !isText || value.getAsString().isEmpty() ? null : ofAnyLength(value.getAsString(), element, place);
        }
        byte[] bytes = orNull(value, element);
        if (bytes == null || bytes.length > element.byteSize()) {
            throw place.damaged(
                    "its fill value is none of its type: found=" + Fields.shown(value) + " type=" + element.dtype());
        }
        byte[] whole = Arrays.copyOf(bytes, element.byteSize());
        return Arrays.equals(whole, new byte[whole.length]) ? null : whole;
    }

    private static byte[] ofAnyLength(String text, Element element, Place place) throws BadSource {
        if (!element.equals(Element.TEXTS)) {
            throw place.unfit("its fill value is not one that is read: " + Fields.shown(text));
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte @Nullable [] orNull(JsonElement value, Element element) {
        try {
            return bytes(value, element);
        } catch (RuntimeException e) { // as Gson and numbers refuse values, each with another class
            return null;
        }
    }

    private static byte @Nullable [] bytes(JsonElement value, Element element) {
        ByteBuffer out = ByteBuffer.allocate(Math.max(16, element.byteSize()))
                .order(element.isBigEndian() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        switch (element.kind()) {
            case 'b' -> out.put((byte) (isTrue(value) ? 1 : 0));
            case 'i', 'u' -> putInteger(out, integer(value), element);
            case 'M', 'm' ->
                out.putLong(
                        isText(value, NO_TIME) ? Long.MIN_VALUE : integer(value).longValueExact());
            case 'f' -> putFloat(out, value, element.byteSize());
            case 'c' -> {
                JsonArray parts = value.isJsonArray() ? value.getAsJsonArray() : pair(value);
                if (parts.size() != 2) {
                    return null;
                }
                putFloat(out, parts.get(0), element.unitBytes());
                putFloat(out, parts.get(1), element.unitBytes());
            }
            case 'U' -> value.getAsString().codePoints().forEach(out::putInt);
            default -> {
                return raw(value);
            }
        }
        return Arrays.copyOf(out.array(), out.position());
    }

    private static JsonArray pair(JsonElement real) {
        JsonArray parts = new JsonArray();
        parts.add(real);
        parts.add(0);
        return parts;
    }

    private static boolean isText(JsonElement value, String text) {
        return value.isJsonPrimitive()
                && value.getAsJsonPrimitive().isString()
                && value.getAsString().equals(text);
    }

    private static boolean isTrue(JsonElement value) {
        return value.getAsJsonPrimitive().isBoolean()
                ? value.getAsBoolean()
                : integer(value).signum() != 0;
    }

    private static BigInteger integer(JsonElement value) {
        if (value.getAsJsonPrimitive().isBoolean()) {
            return value.getAsBoolean() ? BigInteger.ONE : BigInteger.ZERO;
        }
        BigDecimal number = value.getAsBigDecimal();
        if (number.precision() - (long) number.scale() > MOST_DIGITS) { // 1e999999999 would fill the heap
            throw new ArithmeticException("too long");
        }
        return number.toBigIntegerExact();
    }

    private static void putInteger(ByteBuffer out, BigInteger value, Element element) {
        int bits = element.byteSize() * Byte.SIZE;
        boolean isSigned = element.kind() == 'i';
        boolean fits = isSigned ? value.bitLength() < bits : value.signum() >= 0 && value.bitLength() <= bits;
        if (!fits) {
            throw new ArithmeticException("out of range");
        }
        putBits(out, value.longValue(), element.byteSize());
    }

    private static void putBits(ByteBuffer out, long bits, int bytes) {
        switch (bytes) {
            case 1 -> out.put((byte) bits);
            case 2 -> out.putShort((short) bits);
            case 4 -> out.putInt((int) bits);
            default -> out.putLong(bits);
        }
    }

    /** Writes a number, or its bits in hex. */
    private static void putFloat(ByteBuffer out, JsonElement value, int bytes) {
        String text = value.getAsString();
        if (HEX.matcher(text).matches()) {
            putBits(out, Long.parseUnsignedLong(text.substring(2), 16), bytes);
            return;
        }
        double number = switch (text) {
            case "NaN" -> Double.NaN;
            case "Infinity" -> Double.POSITIVE_INFINITY;
            case "-Infinity" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(text);
        };
        switch (bytes) {
            case 2 -> out.putShort((short) half(number));
            case 4 -> out.putFloat((float) number);
            default -> out.putDouble(number);
        }
    }

    /** Returns the bits of the nearest float16; of two, the even one. */
    private static int half(double value) {
        int sign = Double.doubleToRawLongBits(value) < 0 ? 0x8000 : 0;
        double size = Math.abs(value);
        if (Double.isNaN(value)) {
            return HALF_NAN;
        } else if (size >= 65_520) { // halfway between the largest number and the next power of two
            return sign | HALF_INFINITY;
        }
        int exponent = Math.max(-14, Math.getExponent(size));
        long mantissa = (long) Math.rint(Math.scalb(size, HALF_MANTISSA_BITS - exponent));
        // The implicit bit of a normal number adds one to the exponent, and so does a mantissa that was rounded up.
        return sign | (int) (((long) (exponent + 14) << HALF_MANTISSA_BITS) + mantissa);
    }

    /** Returns bytes: in base64, or as a list; {@code null} if there are none, zeros for the number 0. */
    private static byte @Nullable [] raw(JsonElement value) {
        if (value.isJsonArray()) {
            JsonArray list = value.getAsJsonArray();
            byte[] bytes = new byte[list.size()];
            for (int i = 0; i < bytes.length; i++) {
                int each = list.get(i).getAsBigDecimal().intValueExact();
                if (each < 0 || each > 0xff) {
                    return null;
                }
                bytes[i] = (byte) each;
            }
            return bytes;
        } else if (value.isJsonPrimitive() && value.getAsJsonPrimitive().isString()) {
            return Base64.getDecoder().decode(value.getAsString());
        }
        return integer(value).signum() == 0 ? new byte[0] : null;
    }
}
