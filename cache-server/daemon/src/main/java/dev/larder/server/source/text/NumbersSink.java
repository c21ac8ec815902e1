package dev.larder.server.source.text;

import dev.larder.error.LarderException;
import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.ElementsBuilder;
import dev.larder.npy.Dtype;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Makes arrays of numbers, and columns of texts or booleans, of a table. The first value of a column that is not missing decides which. Groups of
 * columns of numbers are int64, uint64 if only that holds all integers, or float64 if a number is missing or no integer.
 */
public final class NumbersSink implements CellSink {
    static final String TEXTS = "repair the line, or load all columns as texts with --as strings";

    private static final Dtype SIGNED = Dtype.parse("<i8");
    private static final Dtype UNSIGNED = Dtype.parse("<u8");
    private static final Dtype REAL = Dtype.parse("<f8");
    private static final int BLOCK_ELEMENTS = 1 << 17;
    private static final long MISSING = Double.doubleToRawLongBits(Double.NaN);

    private final ColumnMemory memory;
    private final Predicate<String> mayBeChosen;
    private final Function<List<String>, Predicate<String>> choice;
    private final NumberText number = new NumberText();
    private final List<Column> columns = new ArrayList<>();
    private final List<ElementsBuilder> matrices = new ArrayList<>();
    private long rows;

    /**
     * Starts an empty table.
     *
     * @param mayBeChosen whether an array can be one of those that {@code choice} takes; others are checked but not kept
     * @param choice returns which of the names that it gets are taken
     */
    public NumbersSink(
            ColumnMemory memory, Predicate<String> mayBeChosen, Function<List<String>, Predicate<String>> choice) {
        this.memory = memory;
        this.mayBeChosen = mayBeChosen;
        this.choice = choice;
    }

    @Override
    public int declare(int column, String name, Cell cell) {
        columns.add(new Column(
                name,
                mayBeChosen.test(ColumnGroups.name(column, name)) || mayBeChosen.test(ColumnGroups.matrixName(name))));
        return column;
    }

    @Override
    public void add(int column, Cell cell) {
        columns.get(column).add(column, cell);
    }

    @Override
    public void endRow(Cell cell) {
        rows++;
    }

    @Override
    public List<ColumnArray> arrays(Path file) {
        BitSet texts = new BitSet();
        for (int i = 0; i < columns.size(); i++) {
            columns.get(i).end();
            texts.set(i, columns.get(i).isText);
        }
        List<ColumnGroups.Group> groups =
                ColumnGroups.of(columns.stream().map(column -> column.name).toList(), texts);
        Predicate<String> chosen =
                choice.apply(groups.stream().map(ColumnGroups.Group::name).toList());
        List<ColumnArray> arrays = new ArrayList<>();
        for (ColumnGroups.Group group : groups) {
            List<Column> own = columns.subList(group.first(), group.first() + group.count());
            String name = group.name();
            if (!chosen.test(name)) {
                own.forEach(Column::close);
            } else if (own.get(0).isText) {
                arrays.addAll(Objects.requireNonNull(own.get(0).texts).arrays(name, rows));
            } else {
                Dtype dtype = dtype(own);
                arrays.add(
                        group.isMatrix()
                                ? matrix(name, dtype, own)
                                : own.get(0).numbers().array(name, dtype, rows));
            }
        }
        return arrays;
    }

    /** Returns the type that has all numbers of some columns, which they have from now on; float64 only if it rounds no whole number. */
    private static Dtype dtype(List<Column> group) {
        boolean hasNegative = group.stream().anyMatch(column -> column.hasNegative);
        boolean hasUnsigned = group.stream().anyMatch(column -> column.hasUnsigned);
        if (group.stream().noneMatch(column -> column.isReal) && !(hasNegative && hasUnsigned)) {
            return hasUnsigned ? UNSIGNED : SIGNED;
        }
        for (Column column : group) {
            if (column.rounded != null) {
                throw column.rounded;
            }
            column.makeReal();
        }
        return REAL;
    }

    /** Puts the rows of some columns together. Memory of the columns is freed while they are read. */
    private ColumnArray matrix(String name, Dtype dtype, List<Column> group) {
        List<ReadableByteChannel> channels = group.stream()
                .map(column -> column.numbers().array(name, dtype, rows).drain())
                .toList();
        ElementsBuilder matrix = new ElementsBuilder(memory);
        matrices.add(matrix);
        int blockRows = Math.max(1, BLOCK_ELEMENTS / group.size());
        ByteBuffer block = ByteBuffer.allocate(blockRows * group.size() * Long.BYTES);
        ByteBuffer column = ByteBuffer.allocate(blockRows * Long.BYTES);
        for (long row = 0; row < rows; row += blockRows) {
            int length = (int) Math.min(blockRows, rows - row) * Long.BYTES;
            for (int c = 0; c < group.size(); c++) {
                fill(column.clear().limit(length), channels.get(c));
                for (int i = 0; i < length; i += Long.BYTES) {
                    block.putLong(i * group.size() + c * Long.BYTES, column.getLong(i));
                }
            }
            matrix.add(block.position(0).limit(length * group.size()));
        }
        group.forEach(Column::close);
        return matrix.array(name, dtype, rows, group.size());
    }

    private static void fill(ByteBuffer target, ReadableByteChannel channel) {
        try {
            while (target.hasRemaining() && channel.read(target) >= 0) {
                // a channel of memory may give less than is asked for
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        columns.forEach(Column::close);
        matrices.forEach(ElementsBuilder::close);
    }

    /** One column of the file. Its texts are kept until a value decides that it has numbers. */
    private final class Column {
        private final String name;
        private final boolean isKept;
        private @Nullable TextRows texts;
        private @Nullable ElementsBuilder numbers;
        private boolean isDecided;
        private boolean isText;
        private boolean isReal;
        private boolean hasNegative;
        private boolean hasUnsigned;

        /** The refusal of the first whole number that a double would round. */
        private @Nullable LarderException rounded;

        Column(String name, boolean isKept) {
            this.name = name;
            this.isKept = isKept;
        }

        void add(int place, Cell cell) {
            NumberText.Kind kind = isText ? NumberText.Kind.NONE : number.read(cell);
            if (!isDecided && kind != NumberText.Kind.MISSING) {
                isDecided = true;
                isText = kind == NumberText.Kind.NONE;
                if (!isText) {
                    startNumbers();
                }
            }
            if (isText || !isDecided) {
                addText(cell);
            } else if (kind == NumberText.Kind.NONE) {
                throw cell.refusal(
                        cell.shown(place, name) + " is not a number, but the first value of its column is", TEXTS);
            } else {
                if (rounded == null && number.isRounded()) {
                    rounded = rounded(cell.shown(place, name), cell);
                }
                addNumber(kind);
            }
        }

        private void addText(Cell cell) {
            if (isKept) {
                texts = texts == null ? new TextRows(memory) : texts;
                texts.add(cell, rows, number);
            }
        }

        private void addNumber(NumberText.Kind kind) {
            boolean isUnsigned = kind == NumberText.Kind.UNSIGNED;
            boolean isNegative = kind == NumberText.Kind.INTEGER && number.integer() < 0;
            boolean isInteger = isUnsigned || kind == NumberText.Kind.INTEGER;
            if (!isReal && (!isInteger || (isUnsigned && hasNegative) || (isNegative && hasUnsigned))) {
                makeReal();
            }
            long bits = number.integer();
            if (isReal) {
                bits = Double.doubleToRawLongBits(number.real());
            } else {
                hasUnsigned |= isUnsigned;
                hasNegative |= isNegative;
            }
            if (numbers != null) {
                numbers.add(bits);
            }
        }

        /** Drops the texts, because they are all missing values. */
        private void startNumbers() {
            close();
            texts = null;
            numbers = isKept ? new ElementsBuilder(memory) : null;
            isReal = rows > 0;
            for (long row = 0; row < rows && numbers != null; row++) {
                numbers.add(MISSING);
            }
        }

        void makeReal() {
            if (!isReal && numbers != null) {
                numbers.replaceAll(bits -> Double.doubleToRawLongBits(NumberText.real(bits, hasUnsigned)));
            }
            isReal = true;
        }

        void end() {
            if (!isDecided) {
                startNumbers();
            }
        }

        ElementsBuilder numbers() {
            return Objects.requireNonNull(numbers);
        }

        void close() {
            if (texts != null) {
                texts.close();
            }
            if (numbers != null) {
                numbers.close();
            }
        }
    }

    private static LarderException rounded(String shown, Cell cell) {
        return cell.refusal(
                shown
                        + " would be rounded: float64 lacks this whole number, and its column has values that neither int64 nor uint64"
                        + " has, such as missing ones",
                "load all columns as texts with --as strings, choose other columns with --columns, or write a point behind"
                        + " the number if it may be rounded");
    }
}
