package dev.larder.server.source.text;

import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.StringsBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A column of texts, or of booleans if each value that is not missing is one. A mask shows missing values: empty fields without quotes, and
 * among booleans also the words for missing numbers.
 */
final class TextRows implements AutoCloseable {
    private static final String MASK = ".mask";
    private static final Set<String> TRUE_WORDS = Set.of("True", "true", "TRUE");
    private static final Set<String> FALSE_WORDS = Set.of("False", "false", "FALSE");
    private static final int LONGEST_WORD = "False".length();

    private final StringsBuilder texts;
    private final BooleanRows missingTexts;
    private final BooleanRows booleans;
    private final BooleanRows missingBooleans;
    private boolean isBoolean = true;
    private boolean hasBoolean;

    TextRows(ColumnMemory memory) {
        this.texts = new StringsBuilder(memory);
        this.missingTexts = new BooleanRows(memory);
        this.booleans = new BooleanRows(memory);
        this.missingBooleans = new BooleanRows(memory);
    }

    /** Adds the next row; {@code number} reads words for missing numbers. */
    void add(Cell cell, long row, NumberText number) {
        texts.addUtf8(cell.utf8());
        if (cell.isEmpty() && !cell.isQuoted()) {
            missingTexts.set(row);
        }
        if (isBoolean) {
            addBoolean(cell, row, number);
        }
    }

    private void addBoolean(Cell cell, long row, NumberText number) {
        String word = cell.end() - cell.start() > LONGEST_WORD ? "" : cell.toString();
        if (TRUE_WORDS.contains(word)) {
            booleans.set(row);
            hasBoolean = true;
        } else if (FALSE_WORDS.contains(word)) {
            hasBoolean = true;
        } else if (number.read(cell) == NumberText.Kind.MISSING) {
            missingBooleans.set(row);
        } else {
            isBoolean = false;
            booleans.close();
            missingBooleans.close();
        }
    }

    /** Returns the arrays, which own the memory from now on. */
    List<ColumnArray> arrays(String name, long rows) {
        boolean areBooleans = isBoolean && hasBoolean;
        List<ColumnArray> arrays = new ArrayList<>();
        if (areBooleans) {
            arrays.add(booleans.array(name, rows));
            texts.close();
            missingTexts.close();
        } else {
            arrays.addAll(texts.arrays(name));
            booleans.close();
            missingBooleans.close();
        }
        BooleanRows missing = areBooleans ? missingBooleans : missingTexts;
        if (missing.isAny()) {
            arrays.add(missing.array(name + MASK, rows));
        } else {
            missing.close();
        }
        return arrays;
    }

    @Override
    public void close() {
        texts.close();
        missingTexts.close();
        booleans.close();
        missingBooleans.close();
    }
}
