package dev.larder.npy;

/** Parses one quoted Python string with its escapes, from its opening quote. */
final class StringEscapes {
    private static final String PLAIN = "\\'\"abfnrtv";
    private static final String PLAIN_MEANING = "\\'\"\u0007\b\f\n\r\t\u000b";

    private final String text;
    private final char quote;
    private final int start;
    private final StringBuilder value = new StringBuilder();
    private int at;

    StringEscapes(String text, int start) {
        this.text = text;
        this.start = start;
        this.quote = text.charAt(start);
        this.at = start + 1;
    }

    String read() throws LiteralFault {
        for (char c = next(); c != quote; c = next()) {
            if (c == '\n' || c == '\r') {
                throw new LiteralFault(at - 1, "a line ends inside a string");
            } else if (c == '\\') {
                escape(next());
            } else {
                value.append(c);
            }
        }
        return value.toString();
    }

    /** Returns the index after the closing quote. */
    int end() {
        return at;
    }

    private char next() throws LiteralFault {
        if (at >= text.length()) {
            throw new LiteralFault(start, "a string has no closing quote");
        }
        return text.charAt(at++);
    }

    private void escape(char c) throws LiteralFault {
        int plain = PLAIN.indexOf(c);
        if (plain >= 0) {
            value.append(PLAIN_MEANING.charAt(plain));
            return;
        }
        switch (c) {
            case 'x' -> value.append((char) hex(2));
            case 'u' -> value.append((char) hex(4));
            case 'U' -> wide();
            case '0', '1', '2', '3', '4', '5', '6', '7' -> octal();
            default -> throw new LiteralFault(at - 2, "a string has an escape that numpy does not write");
        }
    }

    private void wide() throws LiteralFault {
        int begin = at - 2;
        long codePoint = hex(8);
        if (codePoint > Character.MAX_CODE_POINT) {
            throw new LiteralFault(begin, "a string names a character above U+10FFFF");
        }
        value.appendCodePoint((int) codePoint);
    }

    private long hex(int digits) throws LiteralFault {
        long number = 0;
        for (int i = 0; i < digits; i++) {
            int digit = Character.digit(next(), 16);
            if (digit < 0 || text.charAt(at - 1) > 'f') {
                throw new LiteralFault(at - 1, "an escape in a string lacks a hexadecimal digit");
            }
            number = number << 4 | digit;
        }
        return number;
    }

    private void octal() {
        int number = 0;
        at--;
        for (int i = 0; i < 3 && at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '7'; i++) {
            number = number << 3 | (text.charAt(at++) - '0');
        }
        value.append((char) number);
    }
}
