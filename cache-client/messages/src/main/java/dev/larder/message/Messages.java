package dev.larder.message;

import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.CharArrayReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes records as messages: one JSON object in UTF-8, followed by a NUL byte, as <a href="https://varlink.org">Varlink</a> has it.
 *
 * <p>A component of the record is a member of the object with the same name. Integers and booleans are written as such;
 * a {@link java.time.Duration} named {@code timeout} is the integer {@code timeoutMs}; an {@link java.time.Instant} is a text in ISO 8601; an
 * enumerated value is its name in small letters; lists, maps with texts as keys, and records nest. A sealed interface of records is an object
 * with one member, named like the record. Components marked {@link OptionalField} may be absent.
 *
 * <p>Thread-safe.
 */
public final class Messages {
    /** The longest message, without the NUL byte. */
    public static final int MAX_BYTES = 1 << 20;

    /** A message of ours nests less than this. */
    private static final int MAX_DEPTH = 32;

    private static final int ROWS_A_PAGE = 256;

    private static final ClassValue<ValueCodec> CODECS = new ClassValue<>() {
        @Override
        protected ValueCodec computeValue(Class<?> type) {
            return ValueCodec.of(type);
        }
    };

    private Messages() {}

    /** The members of an object that its record does not have. */
    public enum UnknownFields {
        /** The object is refused, because a field that the receiver ignores may change the meaning of the message. */
        REFUSED,
        /** They are skipped; the fields of the record have to be there. */
        SKIPPED,
        /**
         * They are skipped, and fields of the record may be absent: a sender may be of another release. An unknown enumerated value is the one called
         * OTHER, or absent.
         */
        IGNORED
    }

    /** Returns the message with its NUL byte; fails with {@link MessageTooLong} if it would be longer than {@link #MAX_BYTES}. */
    public static byte[] encode(Record message) {
        return write(message.getClass(), message, MAX_BYTES);
    }

    /** Returns one of the messages of a sealed interface, with its NUL byte; fails with {@link MessageTooLong} beyond a length. */
    public static <T> byte[] encode(Class<T> type, T message, int maxBytes) {
        return write(type, message, maxBytes);
    }

    private static byte[] write(Class<?> type, Object message, int maxBytes) {
        LimitedText text = new LimitedText(maxBytes);
        try {
            CODECS.get(type).write(new JsonWriter(text), message);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // no file is written
        }
        byte[] bytes = text.append('\0').toString().getBytes(StandardCharsets.UTF_8);
        if (bytes.length > maxBytes + 1) {
            throw new MessageTooLong(maxBytes);
        }
        return bytes;
    }

    /** Reports a message that is longer than its receiver takes. */
    public static final class MessageTooLong extends RuntimeException {
        private static final long serialVersionUID = 1;

        MessageTooLong(int maxBytes) {
            super("message is longer than " + maxBytes + " bytes", null, false, false);
        }
    }

    /** Makes a message of some elements of a list. */
    @FunctionalInterface
    public interface Page<T> {
        /** Returns the message; {@code isLast} if no other elements follow. */
        Record of(List<T> elements, boolean isLast);
    }

    /** Writes a list as short enough messages, at least one; each when the iterator reaches it. */
    public static <T> Iterator<byte[]> pages(List<T> list, Page<T> toMessage) {
        return encodedPages(list, (elements, isLast) -> encode(toMessage.of(elements, isLast)));
    }

    /** Writes a list as {@link #pages(List, Page)} does, as messages of a sealed interface. */
    public static <M, T> Iterator<byte[]> pages(Class<M> type, List<T> list, Function<List<T>, M> toMessage) {
        return encodedPages(list, (elements, isLast) -> encode(type, toMessage.apply(elements), MAX_BYTES));
    }

    private interface EncodedPage<T> {
        byte[] of(List<T> elements, boolean isLast);
    }

    private static <T> Iterator<byte[]> encodedPages(List<T> list, EncodedPage<T> encoded) {
        return new Iterator<>() {
            private int from;
            private boolean isOver;

            @Override
            public boolean hasNext() {
                return !isOver;
            }

            @Override
            public byte[] next() {
                if (isOver) {
                    throw new NoSuchElementException();
                }
                for (int count = Math.min(ROWS_A_PAGE, list.size() - from); ; count /= 2) {
                    int to = from + count;
                    try {
                        byte[] page = encoded.of(list.subList(from, to), to == list.size());
                        from = to;
                        isOver = to == list.size();
                        return page;
                    } catch (MessageTooLong e) {
                        if (count <= 1) {
                            throw e;
                        }
                    }
                }
            }
        };
    }

    /**
     * Reads a message without its NUL byte. Numbers have to be 64-bit integers, keys unique, and texts whole.
     *
     * @param type a record, or a sealed interface of records
     */
    public static <T> T decode(ByteBuffer message, Class<T> type, UnknownFields unknown) {
        return decode(message, type, unknown, null);
    }

    /**
     * Reads a message as {@link #decode(ByteBuffer, Class, UnknownFields)} does, with a type for its one component of type {@code Object};
     * null skips it.
     */
    static <T> T decode(ByteBuffer message, Class<T> type, UnknownFields unknown, @Nullable Class<?> open) {
        try {
            CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(message.duplicate());
            JsonReader json = new JsonReader(new CharArrayReader(text.array(), text.arrayOffset(), text.remaining()));
            json.setStrictness(Strictness.STRICT);
            json.setNestingLimit(MAX_DEPTH);
            T value = Objects.requireNonNull(type.cast(CODECS.get(type).read(new Source(json, unknown, open))));
            if (json.peek() != JsonToken.END_DOCUMENT) {
                throw new BadMessage("", "there is more than one JSON object");
            }
            return value;
        } catch (CharacterCodingException e) {
            throw new BadMessage("", "it is not UTF-8");
        } catch (IOException | IllegalStateException e) { // Gson's, for malformed JSON
            throw new BadMessage("", "it is not JSON: " + firstLine(e));
        }
    }

    /** Returns the jars or folders of classes that another process needs to use messages. */
    public static List<Path> classPath() {
        return Stream.of(Messages.class, JsonReader.class) // one jar has both, but there may be folders of classes
                .map(type -> type.getProtectionDomain().getCodeSource().getLocation())
                .map(location -> Path.of(URI.create(location.toString())))
                .distinct()
                .toList();
    }

    /** Returns the message of Gson without its advice to accept malformed JSON. */
    private static String firstLine(Exception e) {
        String line = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
        return line.replaceFirst("^Use JsonReader.*?( at line|$)", "malformed$1");
    }

    /** A message that is being read. */
    record Source(
            JsonReader json,
            UnknownFields unknown,
            @Nullable Class<?> open) {
        boolean isTolerant() {
            return unknown == UnknownFields.IGNORED;
        }
    }

    /** Collects text, and fails as soon as there is too much of it. */
    private static final class LimitedText extends Writer {
        private final StringBuilder text = new StringBuilder(256);
        private final int maxLength;

        LimitedText(int maxLength) {
            this.maxLength = maxLength;
        }

        @Override
        public void write(char[] characters, int from, int length) {
            text.append(characters, from, length);
            requireRoom();
        }

        @Override
        public void write(String string, int from, int length) {
            text.append(string, from, from + length);
            requireRoom();
        }

        @Override
        public LimitedText append(char character) {
            text.append(character);
            return this;
        }

        @Override
        public void write(int character) {
            text.append((char) character);
        }

        private void requireRoom() {
            if (text.length() > maxLength) {
                throw new MessageTooLong(maxLength);
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}

        @Override
        public String toString() {
            return text.toString();
        }
    }
}
