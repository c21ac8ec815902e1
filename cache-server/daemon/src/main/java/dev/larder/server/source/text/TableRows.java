package dev.larder.server.source.text;

import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads rows of fields behind a first line. That line has the names of columns if one of its fields is neither a number nor missing. A line of
 * numbers is a row if the sink takes one. Any other line is refused, because it may be either: one with an empty field and without a name, and
 * exactly 0, 1, 2, … .
 */
final class TableRows {
    static final int MAX_COLUMNS = 65_536;

    private static final int MAX_NAME_CHARS = 1_000;
    private static final String NAMES = "if it is names, write x0,x1,x2 there: sed -i '1s/[0-9][0-9]*/x&/g' FILE; ";
    private static final String NUMBERS = "if it is numbers, add a line of names above it";

    private final Path file;
    private final CellReader in;
    private final CellSink sink;
    private final Cell cell;
    private final List<String> first = new ArrayList<>();
    private boolean hasName;
    private boolean hasEmpty;

    TableRows(Path file, CellReader in, CellSink sink) {
        this.file = file;
        this.in = in;
        this.sink = sink;
        this.cell = in.cell();
    }

    void read() throws IOException {
        readFirst();
        int count = first.size();
        int[] columns = new int[count];
        for (int i = 0; i < count; i++) {
            columns[i] = sink.declare(i, hasName ? first.get(i) : "", cell);
        }
        if (!hasName) {
            addFirst(columns);
        }
        for (int i = 0; in.next(); ) {
            if (i < count && columns[i] >= 0) {
                sink.add(columns[i], cell);
            }
            i++;
            if (in.isLast()) {
                if (i != count) {
                    throw cell.refusal("it has " + i + " fields, and the first line has " + count);
                }
                sink.endRow(cell);
                i = 0;
            }
        }
    }

    private void readFirst() throws IOException {
        NumberText number = new NumberText();
        do {
            if (!in.next()) {
                throw Refusal.of(file, 0, "it is empty: the line with the names of the columns is missing");
            } else if (first.size() == MAX_COLUMNS) {
                throw cell.refusal("there are more than " + MAX_COLUMNS + " columns", "split the file");
            }
            String field = cell.toString();
            if (field.length() > MAX_NAME_CHARS) {
                throw cell.refusal("a column's name is longer than " + MAX_NAME_CHARS + " characters", "shorten it");
            }
            hasName |= number.read(cell) == NumberText.Kind.NONE;
            hasEmpty |= field.isBlank();
            first.add(field);
        } while (!in.isLast());
        if (!hasName) {
            requireNumbers();
        }
    }

    private void requireNumbers() {
        if (hasEmpty) {
            throw cell.refusal(
                    "the first line has an empty field and no name: it may be names, as pandas writes ,0,1,2 for columns"
                            + " without names, or numbers, one of which is missing",
                    NAMES + NUMBERS);
        } else if (isCount()) {
            throw cell.refusal(
                    "the first line may be names, as pandas writes 0,1,2 for columns without names, or numbers",
                    NAMES + NUMBERS);
        } else if (!sink.takesNumbersFirst()) {
            throw cell.refusal(
                    "the first line has numbers instead of column names",
                    NAMES + NUMBERS + ", or give --dtype to load all lines as one matrix");
        }
    }

    /** Returns whether the first line is 0, 1, 2, …, which may be numbers as well as names. */
    private boolean isCount() {
        for (int i = 0; i < first.size(); i++) {
            if (!first.get(i).strip().equals(String.valueOf(i))) {
                return false;
            }
        }
        return true;
    }

    private void addFirst(int[] columns) {
        for (int i = 0; i < columns.length; i++) {
            byte[] field = first.get(i).getBytes(StandardCharsets.UTF_8);
            cell.set(field, 0, field.length, false);
            sink.add(columns[i], cell);
        }
        sink.endRow(cell);
    }
}
