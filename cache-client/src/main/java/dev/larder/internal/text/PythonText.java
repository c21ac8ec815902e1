package dev.larder.internal.text;

import java.util.function.IntPredicate;

/** Writes strings as Python's {@code repr} does. */
public final class PythonText {
    private static final int SHOWN = 40;

    private PythonText() {}

    /** Returns the string in quotes, with all unprintable characters escaped. */
    public static String quoted(String text) {
        return quoted(text, PythonText::isPrintable);
    }

    /** Returns the string in quotes, and escapes all code points that are not plain. */
    public static String quoted(String text, IntPredicate isPlain) {
        char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
        StringBuilder out = new StringBuilder(text.length() + 2).append(quote);
        text.codePoints().forEach(c -> append(out, c, quote, isPlain));
        return out.append(quote).toString();
    }

    /** Returns the beginning of an untrusted string, for a message. */
    public static String shown(String text) {
        return text.length() <= SHOWN ? quoted(text) : quoted(text.substring(0, SHOWN)) + "...";
    }

    private static void append(StringBuilder out, int c, char quote, IntPredicate isPlain) {
        switch (c) {
            case '\\' -> out.append("\\\\");
            case '\n' -> out.append("\\n");
            case '\r' -> out.append("\\r");
            case '\t' -> out.append("\\t");
            default -> {
                if (c == quote) {
                    out.append('\\').append(quote);
                } else if (isPlain.test(c)) {
                    out.appendCodePoint(c);
                } else {
                    out.append(escape(c));
                }
            }
        }
    }

    private static String escape(int c) {
        if (c < 0x100) {
            return String.format("\\x%02x", c);
        }
        return c < 0x10000 ? String.format("\\u%04x", c) : String.format("\\U%08x", c);
    }

    /** Returns whether a character is printable. Unassigned ones are, because JDKs assign different ones, and digests must not differ. */
    public static boolean isPrintable(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            case Character.SPACE_SEPARATOR -> c == ' ';
            default -> true;
        };
    }
}
