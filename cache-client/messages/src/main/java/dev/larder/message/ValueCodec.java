package dev.larder.message;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads and writes the values of one type. */
interface ValueCodec {
    /** Returns the value, which the reader has reached; null if only a later release has such a value. */
    @Nullable
    Object read(Messages.Source source) throws IOException;

    /** Writes a value of the type. */
    void write(JsonWriter json, Object value) throws IOException;

    /** Returns the value of a field that is absent. */
    default @Nullable Object absent(long orElse) {
        return null;
    }

    /** Returns the end of the name of a field, which has the unit. */
    default String suffix() {
        return "";
    }

    /** Returns the codec of a type. */
    static ValueCodec of(Type type) {
        if (type instanceof ParameterizedType generic) {
            Type[] arguments = generic.getActualTypeArguments();
            if (generic.getRawType() == List.class) {
                return new CompoundCodecs.OfList(of(arguments[0]));
            } else if (generic.getRawType() == Map.class && arguments[0] == String.class) {
                return new CompoundCodecs.OfMap(of(arguments[1]));
            }
        } else if (type instanceof Class<?> plain) {
            if (plain.isRecord()) {
                return new CompoundCodecs.OfRecord(plain);
            } else if (plain.isEnum()) {
                return new PlainCodecs.OfEnum(plain);
            } else if (plain.isSealed()) {
                return new CompoundCodecs.OfSealed(plain);
            }
            ValueCodec codec = PlainCodecs.BY_TYPE.get(plain);
            if (codec != null) {
                return codec;
            }
        }
        throw new IllegalArgumentException("no messages of " + type);
    }

    /** Refuses a value of another kind. */
    static void require(JsonReader json, JsonToken kind, String wanted) throws IOException {
        JsonToken found = json.peek();
        if (found != kind) {
            throw new BadMessage("", "it should be " + wanted + ", and is " + words(found));
        }
    }

    private static String words(JsonToken found) {
        return switch (found) {
            case BEGIN_ARRAY -> "a list";
            case BEGIN_OBJECT -> "an object";
            case STRING -> "a text";
            case NUMBER -> "a number";
            case BOOLEAN -> "true or false";
            default -> found.name().toLowerCase(Locale.ROOT);
        };
    }

    /** Returns the beginning of a text of a sender, for an error message. */
    static String shown(String text) {
        return text.length() <= 64 ? text : text.substring(0, 61) + "...";
    }

    /** Returns an integer. */
    static long integer(JsonReader json, long least, long most) throws IOException {
        require(json, JsonToken.NUMBER, "an integer");
        String digits = json.nextString();
        try {
            long value = Long.parseLong(digits);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw new BadMessage("", "it is no 64-bit integer: " + shown(digits));
        }
        throw new BadMessage("", "it is not from " + least + " to " + most + ": " + digits);
    }
}
