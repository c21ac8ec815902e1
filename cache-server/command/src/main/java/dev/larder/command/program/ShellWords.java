package dev.larder.command.program;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Formats the words of a command for a shell. */
public final class ShellWords {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

    private ShellWords() {}

    /** Returns the words as one line, with quotes if a shell needs them. */
    public static String quoted(List<String> words) {
        return words.stream()
                .map(word -> PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
    }
}
