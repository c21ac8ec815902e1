package dev.larder.reader;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The columns that {@code --columns} names, and which of the names were found. A name is that of a column in the store, or levels of it that
 * follow each other: {@code label}, {@code train/label} and {@code train} are all names of {@code train/label}. If there are several tables, a
 * name without levels has to be in each of them, and any other in one. {@link #wants} is thread-safe, the rest is not.
 */
public final class Selection {
    private static final Pattern NOT_ALLOWED = Pattern.compile("[^\\p{L}\\p{Nd}+._=/-]+");

    /** The suffixes of arrays that belong to a list: its items, and the offsets of them. */
    private static final Pattern OF_LISTS = Pattern.compile("(?:\\.items)+(?=/|$)|\\.offsets$");

    private static final int MOST_PRESENT = 100;

    private final List<String> names;
    private final Set<String> required;
    private final Set<String> missing;
    private final Set<String> present = new LinkedHashSet<>();
    private final List<Table> tables = new ArrayList<>();

    /** Selects from one table; all columns if there are no names. */
    public Selection(Collection<String> names) {
        this(names, List.of(""));
    }

    /**
     * Selects from several tables.
     *
     * @param names none for all columns
     * @param levels of each table, with a slash at its end; empty for a table without one
     */
    public Selection(Collection<String> names, Collection<String> levels) {
        this.names = List.copyOf(names);
        this.missing = new LinkedHashSet<>(names);
        this.required = new LinkedHashSet<>(names);
        if (levels.size() > 1) {
            required.removeIf(name ->
                    name.contains("/") || levels.stream().anyMatch(level -> isNameOf(name, level + ".")));
        }
    }

    /** Returns the name of a column in the store: with _ in place of characters that no name may have. */
    public static String storedName(String column) {
        return NOT_ALLOWED.matcher(column).replaceAll("_");
    }

    /**
     * Returns whether a name means a column: the whole name, as in the file or in the store, or levels of it. The items and the offsets of a list
     * have the name of the list as well.
     */
    public static boolean isNameOf(String name, String column) {
        return hasLevels(column, name)
                || hasLevels(storedName(column), name)
                || hasLevels(OF_LISTS.matcher(column).replaceAll(""), name);
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

    /** Returns whether a column is wanted, by its whole name. */
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

    /** Starts the search in the table of one level. */
    public Table in(String level) {
        Table table = new Table(level);
        tables.add(table);
        return table;
    }

    /** Returns the tables that were searched, in their order. */
    public List<Table> tables() {
        return Collections.unmodifiableList(tables);
    }

    /** Returns the names that mean no column of any table that was searched. */
    public Set<String> missing() {
        return Collections.unmodifiableSet(missing);
    }

    /** Returns the first columns of all tables that were searched, for people. */
    public Set<String> present() {
        return Collections.unmodifiableSet(present);
    }

    /** The search in one table. */
    public final class Table {
        private final String level;
        private final Set<String> lacking = new LinkedHashSet<>(required);
        private final Set<String> columns = new LinkedHashSet<>();

        private Table(String level) {
            this.level = level;
        }

        /** Returns the prefix of the names of its columns. */
        public String level() {
            return level;
        }

        /** Returns whether all columns are wanted. */
        public boolean isForAll() {
            return names.isEmpty();
        }

        /** Returns whether a column is wanted, by its name without the level. */
        public boolean wants(String column) {
            return Selection.this.wants(level + column);
        }

        /** Notes a column of the table, by its name without the level. */
        public void note(String column) {
            if (missing.isEmpty() && lacking.isEmpty()) {
                return;
            }
            if (columns.size() < MOST_PRESENT) {
                columns.add(column);
            }
            if (present.size() < MOST_PRESENT) {
                present.add(level + column);
            }
            missing.removeIf(name -> isNameOf(name, level + column));
            lacking.removeIf(name -> isNameOf(name, level + column));
        }

        /** Returns the first of its columns, for people. */
        public Set<String> columns() {
            return Collections.unmodifiableSet(columns);
        }

        /** Returns the names that it has to have, because another table has them, and lacks. */
        public Set<String> lacking() {
            Set<String> names = new LinkedHashSet<>(lacking);
            names.removeAll(missing);
            return names;
        }
    }
}
