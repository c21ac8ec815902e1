package dev.larder.message;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The codecs of types that have no parts. */
final class PlainCodecs {
    static final Map<Class<?>, ValueCodec> BY_TYPE = Map.of(
            String.class, new OfText(),
            long.class, new OfInteger(),
            Long.class, new OfInteger(), // in lists
            int.class, new OfInt(),
            boolean.class, new OfTruth(),
            char.class, new OfCharacter(),
            Duration.class, new OfDuration(),
            Instant.class, new OfInstant(),
            Path.class, new OfPath(),
            Object.class, new OfOpen());

    private static final String OTHER = "other";

    private PlainCodecs() {}

    private static String text(JsonReader json) throws IOException {
        ValueCodec.require(json, JsonToken.STRING, "a text");
        return json.nextString();
    }

    private static final class OfText implements ValueCodec {
        @Override
        public Object read(Messages.Source source) throws IOException {
            return text(source.json());
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            json.value((String) value);
        }
    }

    private static final class OfInteger implements ValueCodec {
        @Override
        public Object read(Messages.Source source) throws IOException {
            return ValueCodec.integer(source.json(), Long.MIN_VALUE, Long.MAX_VALUE);
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            json.value((long) value);
        }

        @Override
        public Object absent(long orElse) {
            return orElse;
        }
    }

    private static final class OfInt implements ValueCodec {
        @Override
        public Object read(Messages.Source source) throws IOException {
            return (int) ValueCodec.integer(source.json(), Integer.MIN_VALUE, Integer.MAX_VALUE);
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            json.value((int) value);
        }

        @Override
        public Object absent(long orElse) {
            return (int) orElse;
        }
    }

    private static final class OfTruth implements ValueCodec {
        @Override
        public Object read(Messages.Source source) throws IOException {
            ValueCodec.require(source.json(), JsonToken.BOOLEAN, "true or false");
            return source.json().nextBoolean();
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            json.value((boolean) value);
        }

        @Override
        public Object absent(long orElse) {
            return orElse != 0;
        }
    }

    private static final class OfCharacter implements ValueCodec {
        @Override
        public Object read(Messages.Source source) throws IOException {
            String text = text(source.json());
            if (text.length() != 1) {
                throw new BadMessage("", "it should be one character");
            }
            return text.charAt(0);
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            json.value(value.toString());
        }

        @Override
        public Object absent(long orElse) {
            return (char) orElse;
        }
    }

    private static final class OfPath implements ValueCodec {
        @Override
        public Object read(Messages.Source source) throws IOException {
            String text = text(source.json());
            try {
                return Path.of(text);
            } catch (InvalidPathException e) {
                throw new BadMessage("", "it is no path: " + e.getReason());
            }
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            json.value(value.toString());
        }
    }

    /** Milliseconds; the name of the field has the unit. */
    private static final class OfDuration implements ValueCodec {
        /** Fits into nanoseconds. */
        private static final long MOST_MS = Long.MAX_VALUE / 1_000_000;

        @Override
        public Object read(Messages.Source source) throws IOException {
            return Duration.ofMillis(ValueCodec.integer(source.json(), 0, MOST_MS));
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            Duration time = (Duration) value;
            json.value(time.toSeconds() >= MOST_MS / 1000 ? MOST_MS : time.toMillis());
        }

        @Override
        public Object absent(long orElse) {
            return Duration.ofMillis(orElse);
        }

        @Override
        public String suffix() {
            return "Ms";
        }
    }

    private static final class OfInstant implements ValueCodec {
        @Override
        public Object read(Messages.Source source) throws IOException {
            String text = text(source.json());
            try {
                return Instant.parse(text);
            } catch (DateTimeException e) {
                throw new BadMessage("", "it is no time such as 2026-11-26T03:00:00Z: " + ValueCodec.shown(text));
            }
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            json.value(value.toString());
        }

        @Override
        public Object absent(long orElse) {
            return Instant.EPOCH;
        }
    }

    /** An enumerated value by its name in small letters. */
    static final class OfEnum implements ValueCodec {
        private final Map<String, Object> byWord = new HashMap<>();

        OfEnum(Class<?> type) {
            for (Object constant : type.getEnumConstants()) {
                byWord.put(word(constant), constant);
            }
        }

        private static String word(Object constant) {
            return ((Enum<?>) constant).name().toLowerCase(Locale.ROOT);
        }

        @Override
        public @Nullable Object read(Messages.Source source) throws IOException {
            String text = text(source.json());
            Object found = byWord.get(text);
            if (found == null && source.isTolerant()) {
                return byWord.get(OTHER);
            }
            if (found == null) {
                throw new BadMessage(
                        "",
                        "it should be one of " + String.join(", ", new TreeSet<>(byWord.keySet())) + ", and is "
                                + ValueCodec.shown(text));
            }
            return found;
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            json.value(word(value));
        }
    }

    /** A record of a class that depends on other fields of the message. */
    private static final class OfOpen implements ValueCodec {
        @Override
        public Object read(Messages.Source source) throws IOException {
            Class<?> type = source.open();
            if (type == null) {
                source.json().skipValue();
                return "";
            }
            return RecordCodec.of(type).read(source);
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            RecordCodec.of(value.getClass()).write(json, value);
        }

        @Override
        public @Nullable Object absent(long orElse) {
            return null;
        }
    }
}
