package dev.larder.server.source.arrow;

import dev.larder.server.source.SourceIdentity;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Ranges of rows, one of each batch, with numbers for the places of their data. Takes no object for each. */
final class Pieces {
    private static final int FIRST_PIECES = 16;

    private final int numbersEach;
    private final List<SourceIdentity> files = new ArrayList<>();
    private int[] fileOf = new int[FIRST_PIECES];
    private long[] numbers;
    private int count;
    private long rows;

    /** Starts without pieces; each piece has this many numbers. */
    Pieces(int numbersEach) {
        this.numbersEach = numbersEach;
        this.numbers = new long[FIRST_PIECES * (numbersEach + 1)];
    }

    void add(SourceIdentity file, long rowCount, long... its) {
        if (files.isEmpty() || !files.get(files.size() - 1).equals(file)) {
            files.add(file);
        }
        if (count == fileOf.length) {
            int length = Math.addExact(count, count / 2);
            fileOf = Arrays.copyOf(fileOf, length);
            numbers = Arrays.copyOf(numbers, Math.multiplyExact(length, numbersEach + 1));
        }
        fileOf[count] = files.size() - 1;
        numbers[count * (numbersEach + 1)] = rowCount;
        System.arraycopy(its, 0, numbers, count * (numbersEach + 1) + 1, numbersEach);
        rows = Math.addExact(rows, rowCount);
        count++;
    }

    int count() {
        return count;
    }

    /** Returns the rows of all pieces. */
    long rows() {
        return rows;
    }

    SourceIdentity file(int piece) {
        return files.get(fileOf[piece]);
    }

    long rows(int piece) {
        return numbers[piece * (numbersEach + 1)];
    }

    long number(int piece, int which) {
        return numbers[piece * (numbersEach + 1) + 1 + which];
    }
}
