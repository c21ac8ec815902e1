package dev.larder.server.source.text;

import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.ElementsBuilder;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Makes one matrix of all columns of a table, with elements of a type that is given. */
public final class MatrixSink implements CellSink {
    private static final int BLOCK_BYTES = 64 << 10;

    private final NumberFormat format;
    private final ElementsBuilder elements;
    private final NumberText number = new NumberText();
    private final List<String> names = new ArrayList<>();
    private final ByteBuffer block;
    private long rows;

    public MatrixSink(NumberFormat format, ColumnMemory memory) {
        this.format = format;
        this.elements = new ElementsBuilder(memory);
        this.block = ByteBuffer.allocate(BLOCK_BYTES).order(format.dtype().byteOrder());
    }

    @Override
    public boolean takesNumbersFirst() {
        return true;
    }

    @Override
    public int declare(int column, String name, Cell cell) {
        names.add(name);
        return column;
    }

    @Override
    public void add(int column, Cell cell) {
        NumberText.Kind kind = number.read(cell);
        if (kind == NumberText.Kind.NONE) {
            throw cell.refusal(
                    cell.shown(column, names.get(column)) + " is not a number",
                    "leave out --dtype, " + NumbersSink.TEXTS);
        } else if (!format.fits(kind, number)) {
            throw cell.refusal(
                    cell.shown(column, names.get(column)) + " is not an element of " + format.dtype(),
                    "choose another --dtype");
        }
        format.put(block, kind, number);
        if (block.remaining() < Long.BYTES) {
            flush();
        }
    }

    private void flush() {
        elements.add(block.flip());
        block.clear();
    }

    @Override
    public void endRow(Cell cell) {
        rows++;
    }

    @Override
    public List<ColumnArray> arrays(Path file) {
        flush();
        return List.of(elements.array("", format.dtype(), rows, names.size()));
    }

    @Override
    public void close() {
        elements.close();
    }
}
