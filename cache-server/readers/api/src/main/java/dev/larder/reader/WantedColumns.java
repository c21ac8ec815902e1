package dev.larder.reader;

import java.util.List;
import java.util.regex.Pattern;

/**
 * The columns that are wanted. Each is named by its whole name in the store, or by levels of it that follow each other: {@code label},
 * {@code train/label} and {@code train} are all names of {@code train/label}.
 *
 * @param names none for all columns
 */
public record WantedColumns(List<String> names) {
    private static final Pattern NOT_ALLOWED = Pattern.compile("[^\\p{L}\\p{Nd}+._=/-]+");

    private static final Pattern OF_LISTS = Pattern.compile("(?:\\.items)+(?=/|$)|\\.offsets$");

    /** Keeps its own copy. */
    public WantedColumns {
        names = List.copyOf(names);
    }

    /** Returns what a column is called in the store: its name with _ in place of what no name may have. */
    public static String storedName(String column) {
        return NOT_ALLOWED.matcher(column).replaceAll("_");
    }

    /** Returns a name without the words for items of lists and for their offsets: these belong to the list. */
    public static String nameOfList(String column) {
        return OF_LISTS.matcher(column).replaceAll("");
    }

    /** Tells whether a column is wanted, by its whole name, as in a file or as in the store. */
    public boolean wants(String column) {
        if (names.isEmpty()) {
            return true;
        }
        for (String name : names) {
            if (isNameOf(name, column)) {
                return true;
            }
        }
        return false;
    }

    /** Tells whether a name means a column: all of what that is called, or levels of it. */
    public static boolean isNameOf(String name, String column) {
        return hasLevels(column, name) || hasLevels(storedName(column), name);
    }

    private static boolean hasLevels(String column, String name) {
        int at = 0;
        while (at >= 0) {
            int end = at + name.length();
            if (column.startsWith(name, at) && (end == column.length() || column.charAt(end) == '/')) {
                return true;
            }
            at = column.indexOf('/', at) + 1;
            at = at == 0 ? -1 : at;
        }
        return false;
    }
}
