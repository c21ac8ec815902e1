package dev.larder.command.options;

import dev.larder.command.output.ListedRow;
import dev.larder.internal.layout.Names;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * A pattern of {@code ls}: a dataset, an array or a column, all names below a level ({@code mnist/}), or names with {@code *},
 * {@code ?} and {@code [abc]}. A star also matches slashes.
 *
 * @param text the pattern as the user typed it
 */
public record NamePattern(String text) implements Predicate<ListedRow> {
    private static final String WILD = "*?[";

    /** Returns whether it is a plain name without wildcards. */
    public boolean isName() {
        return text.chars().noneMatch(c -> WILD.indexOf(c) >= 0);
    }

    /** Returns the text that the dataset's name has to begin with. */
    public String prefix() {
        int end = 0;
        while (end < text.length() && WILD.indexOf(text.charAt(end)) < 0) {
            end++;
        }
        return Names.datasetIn(text.substring(0, end));
    }

    @Override
    public boolean test(ListedRow row) {
        return matches(row.name()) || matches(row.dataset());
    }

    /** Returns whether a name matches, or is below a name that does. */
    public boolean matches(String name) {
        if (isName()) {
            String wanted = NameConverter.withoutEnd(text);
            return name.equals(wanted) || name.startsWith(wanted + "/");
        }
        return Pattern.compile(expression(NameConverter.withoutEnd(text)))
                .matcher(name)
                .matches();
    }

    private static String expression(String glob) {
        StringBuilder expression = new StringBuilder();
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            int close = c == '[' ? glob.indexOf(']', i + 2) : -1;
            if (close > 0) {
                String set = glob.substring(i + 1, close).replaceAll("[\\\\\\[\\]^&]", "\\\\$0");
                expression
                        .append('[')
                        .append(set.startsWith("!") ? "^" + set.substring(1) : set)
                        .append(']');
                i = close;
            } else {
                expression.append(c == '*' ? ".*" : c == '?' ? "." : Pattern.quote(String.valueOf(c)));
            }
        }
        return expression.toString();
    }
}
