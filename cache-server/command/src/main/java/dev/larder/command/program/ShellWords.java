package dev.larder.command.program;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Words of a command as one would type them. */
public final class ShellWords {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

    private ShellWords() {}

    /** Quotes those that a shell would take apart. */
    public static String quoted(List<String> words) {
        return words.stream()
                .map(word -> PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
    }
}
