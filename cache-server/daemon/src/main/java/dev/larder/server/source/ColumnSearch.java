package dev.larder.server.source;

import dev.larder.reader.WantedColumns;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Looks for the columns that are wanted in the tables of one source, and knows which were found. Where there are several tables, a name
 * that tells no level has to be in each, and any other in one at least. Not thread-safe.
 */
public final class ColumnSearch {
    private static final int MOST_PRESENT = 100;

    private final WantedColumns wanted;
    private final Set<String> required;
    private final Set<String> missing;
    private final Set<String> present = new LinkedHashSet<>();
    private final List<Table> tables = new ArrayList<>();

    /**
     * Starts without any found.
     *
     * @param names none for all columns
     * @param levels of each table, with a slash at its end; empty for a table without one
     */
    public ColumnSearch(List<String> names, Collection<String> levels) {
        this.wanted = new WantedColumns(names);
        this.missing = new LinkedHashSet<>(names);
        this.required = new LinkedHashSet<>(names);
        if (levels.size() > 1) {
            required.removeIf(name ->
                    name.contains("/") || levels.stream().anyMatch(level -> WantedColumns.isNameOf(name, level + ".")));
        }
    }

    /** Returns the first columns of all tables that were searched, for people. */
    public Set<String> present() {
        return present;
    }

    /** Starts the search in the table of one level; {@code file} is its first. */
    public Table in(String level, Path file) {
        Table table = new Table(level, file);
        tables.add(table);
        return table;
    }

    /** Fails if a table lacks a name that each has to have, and another table has it. */
    public void requireEven() {
        for (Table table : tables) {
            Set<String> lacking = new LinkedHashSet<>(table.lacking);
            lacking.removeAll(missing);
            if (!lacking.isEmpty()) {
                throw Refusal.noColumns(table.file, lacking, table.columns);
            }
        }
    }

    /** Returns the names that mean no column of any table that was searched. */
    public Set<String> missing() {
        return missing;
    }

    /** The search in one table. */
    public final class Table {
        private final String level;
        private final Path file;
        private final Set<String> lacking = new LinkedHashSet<>(required);
        private final Set<String> columns = new LinkedHashSet<>();

        private Table(String level, Path file) {
            this.level = level;
            this.file = file;
        }

        /** Returns what comes before the names of the table's columns. */
        public String level() {
            return level;
        }

        /** Tells whether all columns are wanted. */
        public boolean isForAll() {
            return wanted.names().isEmpty();
        }

        /** Tells whether a column is wanted, by its name without the level. */
        public boolean wants(String column) {
            return wanted.wants(level + column);
        }

        /** Takes note of a column that the table has, by its name without the level. */
        public void note(String column) {
            if (!missing.isEmpty() || !lacking.isEmpty()) {
                if (columns.size() < MOST_PRESENT) {
                    columns.add(column);
                }
                if (present.size() < MOST_PRESENT) {
                    present.add(level + column);
                }
                missing.removeIf(name -> WantedColumns.isNameOf(name, level + column));
                lacking.removeIf(name -> WantedColumns.isNameOf(name, level + column));
            }
        }
    }
}
