package dev.larder.command.output;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** A table with aligned columns, to the right if their headings start with {@link #RIGHT}. */
public final class Table {
    /** The first character of the headings of columns with numbers. */
    public static final String RIGHT = ">";

    private static final String GAP = "  ";

    private final boolean[] right;
    private final List<String> headings;
    private final List<Supplier<List<String>>> rows = new ArrayList<>();

    private Table(List<String> headings) {
        this.right = new boolean[headings.size()];
        this.headings = new ArrayList<>();
        for (int column = 0; column < right.length; column++) {
            String heading = headings.get(column);
            right[column] = heading.startsWith(RIGHT);
            this.headings.add(right[column] ? heading.substring(RIGHT.length()) : heading);
        }
        rows.add(() -> this.headings);
    }

    /** Starts a table. */
    public static Table of(List<String> headings) {
        return new Table(headings);
    }

    /** Adds a line. */
    public Table row(List<String> cells) {
        if (cells.size() != right.length) {
            throw new IllegalArgumentException("cells=" + cells.size() + " columns=" + right.length);
        }
        List<String> copy = List.copyOf(cells);
        return row(() -> copy);
    }

    /** Adds a line. Makes its cells on each use, because those of a hundred thousand lines would fill the heap. */
    Table row(Supplier<List<String>> cells) {
        rows.add(cells);
        return this;
    }

    /**
     * Returns the lines as {@link #lines()}. If the table is too wide for a terminal, columns are omitted one after the other, and the
     * last column may be cut.
     *
     * @param leastCut the characters of the last column that have to fit
     * @param columns the headings of columns that may be omitted, in this order
     */
    public List<String> lines(int terminalWidth, int leastCut, List<String> columns) {
        Table table = this;
        for (String heading : columns) {
            if (table.width(leastCut) > terminalWidth) {
                table = table.without(heading);
            }
        }
        return table.lines();
    }

    private int width(int leastCut) {
        int width = 0;
        for (int column = 0; column < right.length; column++) {
            int at = column;
            int widest = rows.stream()
                    .mapToInt(row -> width(row.get().get(at)))
                    .max()
                    .orElse(0);
            width += column == right.length - 1 ? Math.min(leastCut, widest) : widest + GAP.length();
        }
        return width;
    }

    private Table without(String heading) {
        int gone = headings.indexOf(heading);
        if (gone < 0) {
            return this;
        }
        List<String> rest = new ArrayList<>();
        for (int column = 0; column < right.length; column++) {
            rest.add((right[column] ? RIGHT : "") + headings.get(column));
        }
        rest.remove(gone);
        Table table = new Table(rest);
        rows.stream().skip(1).forEach(row -> {
            List<String> cells = new ArrayList<>(row.get());
            cells.remove(gone);
            table.row(cells);
        });
        return table;
    }

    /** Returns the lines, headings first, without trailing blanks. Makes each on request. */
    public List<String> lines() {
        int[] widths = new int[right.length];
        for (Supplier<List<String>> row : rows) {
            List<String> cells = row.get();
            Arrays.setAll(widths, column -> Math.max(widths[column], width(cells.get(column))));
        }
        return new AbstractList<>() {
            @Override
            public String get(int number) {
                return line(rows.get(number).get(), widths);
            }

            @Override
            public int size() {
                return rows.size();
            }
        };
    }

    private String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < right.length; column++) {
            String cell = row.get(column);
            String padding = " ".repeat(widths[column] - width(cell));
            line.append(column == 0 ? "" : GAP)
                    .append(right[column] ? padding : "")
                    .append(cell)
                    .append(right[column] ? "" : padding);
        }
        return line.toString().stripTrailing();
    }

    private static int width(String cell) {
        return cell.codePointCount(0, cell.length());
    }
}
