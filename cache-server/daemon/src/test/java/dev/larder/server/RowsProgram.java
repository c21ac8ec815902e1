package dev.larder.server;

import dev.larder.client.ComputedRows;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.rows.RowComputation;
import dev.larder.rows.RowsSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Reads all computed rows of a dataset in an order of its own, computing what is missing, and says what it has done; fails where a
 * row is not what it should be. Every row that it begins to compute is a line of a file.
 */
final class RowsProgram {
    static final String OPEN = "open";
    static final String DONE = "done";
    static final int ROW_INTS = 300;

    private RowsProgram() {}

    /** Arguments: the store, the file for what is begun, a seed, how long a row takes in microseconds, the patience in milliseconds. */
    public static void main(String[] args) {
        Path begun = Path.of(args[1]);
        long micros = Long.parseLong(args[3]);
        try (Larder larder = Larder.connect(Path.of(args[0]));
                Dataset dataset = larder.dataset("numbers")) {
            ComputedRows rows = dataset.rows(spec().patience(Duration.ofMillis(Long.parseLong(args[4]))));
            System.out.println(OPEN);
            ComputedRows.Reader reader = rows.reader((row, result) -> {
                note(begun, row);
                fill(dataset, row, result, micros);
            });
            read(rows, reader, Long.parseLong(args[2]));
            System.out.println(DONE + " " + rows.computed() + " " + rows.computedAlone());
        }
    }

    static RowsSpec spec() {
        return RowsSpec.of("made", "numbers").row("<i4", ROW_INTS).version("1");
    }

    /** Makes a row of a dataset's number, slowly, so that a process can be killed in the middle. */
    static void fill(Dataset dataset, long row, ByteBuffer result, long micros) {
        long first = dataset.array("numbers").getLong(row);
        for (int i = 0; i < ROW_INTS; i++) {
            result.putInt((int) first * 31 + i);
            if (i == ROW_INTS / 2 && micros > 0) {
                LockSupport.parkNanos(micros * 1000);
            }
        }
    }

    static RowComputation function(Dataset dataset) {
        return (row, result) -> fill(dataset, row, result, 0);
    }

    private static void note(Path begun, long row) {
        try { // one write, at the end: lines of several processes do not mix
            Files.write(
                    begun,
                    (ProcessHandle.current().pid() + " " + row + "\n").getBytes(StandardCharsets.US_ASCII),
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads every row in batches, and compares it. */
    static void read(ComputedRows rows, ComputedRows.Reader reader, long seed) {
        List<Long> order = new ArrayList<>();
        for (long row = 0; row < rows.rows(); row++) {
            order.add(row);
        }
        Collections.shuffle(order, new Random(seed));
        int batch = 16;
        UnsafeBuffer target = new UnsafeBuffer(new byte[batch * (int) rows.rowByteSize()]);
        for (int at = 0; at < order.size(); at += batch) {
            long[] wanted = order.subList(at, Math.min(order.size(), at + batch)).stream()
                    .mapToLong(Long::longValue)
                    .toArray();
            reader.copyRows(wanted, target, 0);
            for (int i = 0; i < wanted.length; i++) {
                requireRight(wanted[i], target, i * (int) rows.rowByteSize());
            }
        }
    }

    /** The dataset's number of a row is the row's. */
    private static void requireRight(long row, UnsafeBuffer target, int offset) {
        for (int i = 0; i < ROW_INTS; i++) {
            int found = target.getInt(offset + i * Integer.BYTES);
            if (found != (int) row * 31 + i) {
                throw new AssertionError("row=" + row + " place=" + i + " found=" + found);
            }
        }
    }
}
