package dev.larder.npy;

import dev.larder.internal.text.PythonText;
import java.util.ArrayList;
import java.util.List;

/**
 * Parses the subset of Python literals that numpy writes into headers, by recursive descent: strings (also {@code u''}), whole
 * numbers (also {@code 10L}), {@code True}, {@code False}, tuples, lists and dicts. It evaluates nothing; any other text is a
 * {@link LiteralFault}.
 */
final class LiteralParser {
    static final int MAX_DEPTH = 32;

    private static final char END = '\0';

    private final String text;
    private int at;
    private int depth;

    private LiteralParser(String text) {
        this.text = text;
    }

    /** Parses one value that fills the whole text, except for surrounding white space. */
    static Literal parse(String text) throws LiteralFault {
        LiteralParser parser = new LiteralParser(text);
        Literal value = parser.value();
        parser.skipSpace();
        if (parser.at < text.length()) {
            throw parser.fault("there is text after the end of the literal");
        }
        return value;
    }

    private Literal value() throws LiteralFault {
        skipSpace();
        char c = peek();
        return switch (c) {
            case '\'', '"' -> string(at);
            case '(' -> parenthesized();
            case '[' -> new Literal.Sequence(at, items(']'));
            case '{' -> mapping();
            default -> c == '-' || isDigit(c) ? number() : word();
        };
    }

    private Literal parenthesized() throws LiteralFault {
        int start = at;
        List<Literal> items = new ArrayList<>();
        boolean comma = sequence(items, ')');
        return items.size() == 1 && !comma ? items.get(0) : new Literal.Tuple(start, items);
    }

    private List<Literal> items(char close) throws LiteralFault {
        List<Literal> items = new ArrayList<>();
        sequence(items, close);
        return items;
    }

    /** Parses values up to the closing bracket. Returns whether a comma follows the last one. */
    private boolean sequence(List<Literal> items, char close) throws LiteralFault {
        enter();
        boolean comma = true;
        while (!closes(close)) {
            expectComma(comma);
            items.add(value());
            comma = skipComma();
        }
        depth--;
        return comma;
    }

    private Literal mapping() throws LiteralFault {
        int start = at;
        List<Literal.Entry> entries = new ArrayList<>();
        enter();
        boolean comma = true;
        while (!closes('}')) {
            expectComma(comma);
            Literal key = value();
            skipSpace();
            if (peek() != ':') {
                throw fault("a colon is missing in the dict");
            }
            at++;
            entries.add(new Literal.Entry(key, value()));
            comma = skipComma();
        }
        depth--;
        return new Literal.Mapping(start, entries);
    }

    private void enter() throws LiteralFault {
        if (++depth > MAX_DEPTH) {
            throw fault("brackets are nested deeper than " + MAX_DEPTH + " levels");
        }
        at++;
    }

    private boolean closes(char close) throws LiteralFault {
        skipSpace();
        if (at >= text.length()) {
            throw fault("the literal ends before its closing " + close);
        }
        if (text.charAt(at) == close) {
            at++;
            return true;
        }
        return false;
    }

    private void expectComma(boolean comma) throws LiteralFault {
        if (!comma) {
            throw fault("a comma or a closing bracket is missing");
        }
    }

    private boolean skipComma() {
        skipSpace();
        if (peek() == ',') {
            at++;
            return true;
        }
        return false;
    }

    private Literal number() throws LiteralFault {
        int start = at;
        if (peek() == '-') {
            at++;
        }
        int digits = at;
        while (isDigit(peek())) {
            at++;
        }
        if (at == digits || (text.charAt(digits) == '0' && at > digits + 1)) {
            throw new LiteralFault(start, "not a decimal number");
        }
        String number = text.substring(start, at);
        if (peek() == 'L') {
            at++;
        }
        if (isWordPart(peek()) || peek() == '.') {
            throw new LiteralFault(start, "not a whole decimal number");
        }
        try {
            return new Literal.Whole(start, Long.parseLong(number));
        } catch (NumberFormatException e) {
            throw new LiteralFault(start, "the number does not fit into 64 bits");
        }
    }

    private Literal word() throws LiteralFault {
        int start = at;
        while (isWordPart(peek())) {
            at++;
        }
        String word = text.substring(start, at);
        char next = peek();
        if ((word.equals("u") || word.equals("U")) && (next == '\'' || next == '"')) {
            return string(start);
        }
        return switch (word) {
            case "True" -> new Literal.Flag(start, true);
            case "False" -> new Literal.Flag(start, false);
            case "" ->
                throw new LiteralFault(
                        start, start < text.length() ? "not the beginning of a literal" : "the literal ends too early");
            default ->
                throw new LiteralFault(
                        start, "only strings, numbers, True and False are allowed here, not " + PythonText.shown(word));
        };
    }

    private Literal string(int start) throws LiteralFault {
        StringEscapes string = new StringEscapes(text, at);
        String value = string.read();
        at = string.end();
        return new Literal.Text(start, value);
    }

    private void skipSpace() {
        while (at < text.length() && " \t\n\r\f".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() {
        return at < text.length() ? text.charAt(at) : END;
    }

    private LiteralFault fault(String reason) {
        return new LiteralFault(at, reason);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isWordPart(char c) {
        return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    }
}
