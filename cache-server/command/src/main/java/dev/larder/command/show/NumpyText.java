package dev.larder.command.show;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Prints rows of an array as numpy's {@code print} does: brackets, 75 columns, and, for more than a thousand elements, only the first
 * and last three along each dimension.
 */
final class NumpyText {
    private static final int LINE_WIDTH = 75;
    private static final long MOST_WHOLE = 1000;
    private static final int EDGE = 3;
    private static final long MOST_CELLS = 100_000;
    private static final long GAP = -1;

    private final Cells cells;
    private final List<long[]> axes = new ArrayList<>();
    private List<String> texts = List.of();
    private int next;

    private NumpyText(Cells cells, long firstRow, long rows) {
        this.cells = cells;
        long[] shape = cells.shape();
        if (shape.length > 0) {
            shape[0] = rows;
        }
        long count = LongStream.of(shape).reduce(1, (a, b) -> a * b);
        for (int i = 0; i < shape.length; i++) {
            axes.add(axis(shape[i], i == 0 ? firstRow : 0, count > MOST_WHOLE));
        }
    }

    /** Returns the lines for some rows; an array without dimensions has one. */
    static List<String> of(Cells cells, long firstRow, long rows) {
        NumpyText text = new NumpyText(cells, firstRow, rows);
        text.requireFew();
        List<CellValue> found = new ArrayList<>();
        text.collect(new long[text.axes.size()], 0, found);
        text.texts = CellTexts.of(cells.dtype(), found);
        return text.axes.isEmpty()
                ? text.texts.stream().map(NumpyText::alone).toList()
                : text.block(0, " ", LINE_WIDTH).lines().toList();
    }

    /** Returns the text of a single value: like a Python number, not like an element. */
    private static String alone(String text) {
        String value = text.strip();
        return value.endsWith(".") ? value + "0" : value;
    }

    /** Returns the indices to show along a dimension, with a gap for omitted ones. */
    private static long[] axis(long length, long first, boolean isSummary) {
        if (!isSummary || length <= 2 * EDGE) {
            return LongStream.range(first, first + length).toArray();
        }
        LongStream head = LongStream.range(first, first + EDGE);
        LongStream tail = LongStream.range(first + length - EDGE, first + length);
        return LongStream.concat(LongStream.concat(head, LongStream.of(GAP)), tail)
                .toArray();
    }

    private void requireFew() {
        long shown = axes.stream().mapToLong(axis -> axis.length).reduce(1, (a, b) -> a * b);
        if (shown > MOST_CELLS) {
            throw Failure.of(ErrorCode.USAGE, "too many values to print")
                    .with("values", shown)
                    .remedy("choose fewer with --rows");
        }
    }

    private void collect(long[] index, int axis, List<CellValue> found) {
        if (axis == index.length) {
            found.add(cells.at(index));
            return;
        }
        for (long i : axes.get(axis)) {
            if (i != GAP) {
                index[axis] = i;
                collect(index, axis + 1, found);
            }
        }
    }

    /** Returns the text of one block of a dimension, in brackets. */
    private String block(int axis, String indent, int width) {
        if (axis == axes.size()) {
            return texts.get(next++);
        }
        String inner = axis == axes.size() - 1 ? line(axis, indent, width) : blocks(axis, indent, width);
        return "[" + inner + "]";
    }

    private String blocks(int axis, String indent, int width) {
        String separator = "\n".repeat(axes.size() - axis - 1);
        StringBuilder text = new StringBuilder();
        for (long i : axes.get(axis)) {
            String block = i == GAP ? "..." : block(axis + 1, indent + " ", width - 1);
            text.append(text.length() == 0 ? "" : separator + indent).append(block);
        }
        return text.toString();
    }

    private String line(int axis, String indent, int width) {
        StringBuilder text = new StringBuilder();
        StringBuilder line = new StringBuilder(indent);
        long[] shown = axes.get(axis);
        for (int i = 0; i < shown.length; i++) {
            String word = shown[i] == GAP ? "..." : block(axis + 1, indent, width);
            if (line.length() + word.length() > width - 1 && line.length() > indent.length()) {
                text.append(line.toString().stripTrailing()).append('\n');
                line.setLength(0);
                line.append(indent);
            }
            line.append(word).append(i == shown.length - 1 ? "" : " ");
        }
        return text.append(line).substring(indent.length());
    }
}
