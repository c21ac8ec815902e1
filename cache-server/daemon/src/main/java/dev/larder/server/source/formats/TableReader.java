package dev.larder.server.source.formats;

import de.siegmar.fastcsv.reader.CsvCallbackHandler;
import de.siegmar.fastcsv.reader.RecordType;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.Names;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Takes the fields of a table as they are read, and keeps their numbers. Used by one thread. */
final class TableReader extends CsvCallbackHandler<Boolean> {
    static final int MAX_COLUMNS = 65_536;

    private static final String TEXTS = "repair the line, or load all columns as texts with --as strings";

    private static final int MAX_NAME_CHARS = 1_000;

    private final Path file;
    private final LongConsumer beforeSpill;
    private final @Nullable NumberFormat wanted;
    private final NumberText number = new NumberText();
    private final List<String> first = new ArrayList<>();
    private final BitSet texts = new BitSet();

    /** Columns that have had a value: the first one says what a column holds. */
    private final BitSet decided = new BitSet();

    /** By columns, the first whole number that a double would round. */
    private final Map<Integer, LarderException> inexact = new HashMap<>();

    private boolean hasName;
    private boolean hasNumber;
    private @Nullable NumberTable table;
    private long line;
    private int fields;
    private int undecided;
    private boolean started;
    private RecordType type = RecordType.DATA;

    /** Reads numbers of a type that is wanted for all, or whatever comes. */
    TableReader(Path file, @Nullable NumberFormat wanted, LongConsumer beforeSpill) {
        this.file = file;
        this.beforeSpill = beforeSpill;
        this.wanted = wanted;
    }

    /** Returns the fields of the first line; empty if there was none. */
    List<String> header() {
        return isNumbers() ? List.of() : first;
    }

    /** Returns which columns are of texts; the table has zeros there. */
    BitSet texts() {
        return texts;
    }

    /** Returns the refusal of adjacent columns as doubles; null if they can become doubles. */
    @Nullable
    LarderException refusalOfDoubles(int first, int count) {
        return IntStream.range(first, first + count)
                .mapToObj(inexact::get)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Ends the table; the caller closes it. */
    NumberTable table() throws IOException {
        if (table == null) {
            throw Refusal.of(file, 0, "it is empty");
        }
        table.end();
        return table;
    }

    /** Frees what has been kept, where reading came to a bad end. */
    void abandon() {
        if (table != null) {
            table.close();
        }
    }

    @Override
    protected RecordType getRecordType() {
        return type;
    }

    @Override
    protected int getFieldCount() {
        return fields;
    }

    @Override
    protected void beginRecord(long startingLineNumber) {
        line = startingLineNumber;
        fields = 0;
        type = RecordType.DATA;
    }

    @Override
    protected void addField(char[] buffer, int offset, int length, boolean quoted) {
        if (fields >= MAX_COLUMNS) {
            throw refusal("there are more than " + MAX_COLUMNS + " columns", "split the file");
        }
        NumberTable numbers = table;
        if (numbers == null) {
            if (length > MAX_NAME_CHARS) {
                throw refusal("a column's name is longer than " + MAX_NAME_CHARS + " characters", "shorten it");
            }
            first.add(new String(buffer, offset, length));
            NumberText.Kind kind = number.read(buffer, offset, length);
            boolean isMissing = kind == NumberText.Kind.MISSING;
            hasNumber |= kind != NumberText.Kind.NONE && !isMissing;
            hasName |= kind == NumberText.Kind.NONE
                    || (isMissing && first.get(fields).isBlank());
        } else if (fields >= numbers.columns()) {
            throw refusal("it has more fields than the " + numbers.columns() + " of the first line", "repair the line");
        } else {
            add(numbers, number.read(buffer, offset, length), buffer, offset, length);
        }
        fields++;
    }

    private void add(NumberTable numbers, NumberText.Kind kind, char[] buffer, int offset, int length) {
        if (undecided > 0 && kind != NumberText.Kind.MISSING && !decided.get(fields)) {
            decided.set(fields);
            undecided--;
            texts.set(fields, kind == NumberText.Kind.NONE && wanted == null);
        }
        if (texts.get(fields)) {
            numbers.add(fields, 0);
        } else if (kind == NumberText.Kind.NONE) {
            throw refusal(
                    shown(buffer, offset, length) + " is not a number"
                            + (wanted == null ? ", but the first value of its column is" : ""),
                    TEXTS);
        } else if (wanted != null && !wanted.fits(kind, number)) {
            throw refusal(
                    shown(buffer, offset, length) + " is not an element of " + wanted.dtype(),
                    "choose another --dtype");
        } else {
            addNumber(numbers, kind);
            if (wanted == null && number.isWhole() && !isExact(kind) && !inexact.containsKey(fields)) {
                inexact.put(fields, rounded(shown(buffer, offset, length)));
            }
        }
    }

    private void addNumber(NumberTable numbers, NumberText.Kind kind) {
        boolean isInteger = kind == NumberText.Kind.INTEGER || kind == NumberText.Kind.UNSIGNED;
        if (wanted != null && !wanted.isReal()) {
            numbers.add(fields, isInteger ? number.integer() : (long) number.real());
        } else if (wanted != null
                || !isInteger
                || !numbers.isAdded(fields, number.integer(), kind == NumberText.Kind.UNSIGNED)) {
            numbers.add(fields, number.real());
        }
    }

    private boolean isExact(NumberText.Kind kind) {
        return switch (kind) {
            case INTEGER, UNSIGNED -> NumberText.isExact(number.integer(), kind == NumberText.Kind.UNSIGNED);
            default -> number.isExact();
        };
    }

    private LarderException rounded(String shown) {
        return refusal(
                shown
                        + " would be rounded: float64 lacks this whole number, and its column has values that neither int64 nor uint64"
                        + " has, such as missing ones",
                "load all columns as texts with --as strings, choose other columns with --columns, or write a point behind"
                        + " the number if it may be rounded");
    }

    private String shown(char[] buffer, int offset, int length) {
        String name = isNumbers() || fields >= first.size() ? "" : " (" + Names.printable(first.get(fields)) + ")";
        return "field " + (fields + 1) + name + ": '"
                + Names.printable(new String(buffer, offset, Math.min(length, 100))) + "'";
    }

    @Override
    protected void setComment(char[] buffer, int offset, int length) {
        type = RecordType.COMMENT;
    }

    @Override
    protected void setEmpty() {
        type = RecordType.EMPTY;
    }

    @Override
    protected Boolean buildRecord() {
        if (type != RecordType.DATA) {
            return false;
        }
        if (!started) {
            started = true;
            start();
            return true;
        }
        NumberTable numbers = table;
        if (numbers == null || fields != numbers.columns()) {
            throw refusal("it has " + fields + " fields, the first line " + first.size(), "repair the line");
        }
        try {
            numbers.endRow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return true;
    }

    /** Looks at the first line: names, or numbers already where one type for all was asked for. */
    private void start() {
        NumberTable numbers = new NumberTable(file, first.size(), beforeSpill);
        table = numbers;
        undecided = first.size();
        if (!isNumbers()) {
            return;
        } else if (counts()) {
            throw refusal(
                    "the first line may be names, as pandas writes 0,1,2 for columns without names, or numbers",
                    "if it is names, write x0,x1,x2 there: sed -i '1s/[0-9][0-9]*/x&/g' FILE; if it is numbers, add a line of"
                            + " names above it");
        } else if (wanted == null) {
            throw refusal(
                    "the first line has numbers instead of column names",
                    "add a first line with names, or give --dtype to load all lines as one matrix");
        }
        for (fields = 0; fields < first.size(); fields++) {
            char[] text = first.get(fields).toCharArray();
            add(numbers, number.read(text, 0, text.length), text, 0, text.length);
        }
        try {
            numbers.endRow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Tells whether the first line has numbers, some of which may be missing, and no name; an empty field is a column without one. */
    private boolean isNumbers() {
        return !hasName && (hasNumber || wanted != null);
    }

    /** Tells whether the first line is 0, 1, 2, …, which may be numbers as well as names. */
    private boolean counts() {
        for (int i = 0; i < first.size(); i++) {
            if (!first.get(i).strip().equals(String.valueOf(i))) {
                return false;
            }
        }
        return true;
    }

    private LarderException refusal(String reason, String remedy) {
        return Refusal.atLine(file, line, reason, remedy);
    }
}
