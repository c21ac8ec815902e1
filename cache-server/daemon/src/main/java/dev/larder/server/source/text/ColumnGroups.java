package dev.larder.server.source.text;

import dev.larder.server.source.ColumnArrays;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Groups the columns of a table into arrays: adjacent columns with names that differ only in a number that counts up
 * ({@code pixel0, pixel1, …}) are one matrix, every other column is an array.
 */
final class ColumnGroups {
    private static final Pattern NUMBERED =
            Pattern.compile("(?<stem>.*?)[\\s._\\[(-]*(?<number>[0-9]{1,9})[\\])]?", Pattern.DOTALL);
    private static final String UNNAMED = "column"; // and its number from 0
    private static final String MATRIX = "values";

    private ColumnGroups() {}

    /**
     * Some adjacent columns.
     *
     * @param name what their array is called
     * @param isMatrix whether it has two dimensions
     */
    record Group(String name, int first, int count, boolean isMatrix) {}

    /** Groups columns of numbers; each of {@code texts} stands alone. */
    static List<Group> of(List<String> columns, BitSet texts) {
        List<Group> groups = new ArrayList<>();
        for (int first = 0; first < columns.size(); ) {
            int count = texts.get(first) ? 1 : runLength(columns, first, texts);
            String column = columns.get(first);
            String name = count > 1 ? matrixName(column) : name(first, column);
            groups.add(new Group(name, first, count, count > 1));
            first += count;
        }
        return groups;
    }

    /** Returns the stored name of a column by itself. */
    static String name(int column, String name) {
        return ColumnArrays.cleanName(name.strip(), UNNAMED + column);
    }

    /** Returns the stored name of a matrix that a column is part of. */
    static String matrixName(String column) {
        Matcher matcher = NUMBERED.matcher(column.strip());
        return ColumnArrays.cleanName(matcher.matches() ? matcher.group("stem") : column.strip(), MATRIX);
    }

    private static int runLength(List<String> columns, int first, BitSet texts) {
        Matcher start = NUMBERED.matcher(columns.get(first).strip());
        if (!start.matches()) {
            return 1;
        }
        long number = Long.parseLong(start.group("number"));
        int count = 1;
        while (first + count < columns.size() && !texts.get(first + count)) {
            Matcher next = NUMBERED.matcher(columns.get(first + count).strip());
            if (!next.matches()
                    || !next.group("stem").equals(start.group("stem"))
                    || Long.parseLong(next.group("number")) != number + count) {
                break;
            }
            count++;
        }
        return count;
    }
}
