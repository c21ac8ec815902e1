package dev.larder.loader.internal.transform;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.MutableDirectBuffer;

/**
 * The memory layout of the control of samples: 32-bit integers in the machine's byte order, sample by sample. A part that
 * the kernel does not need is left out.
 *
 * <pre>
 *  0            4            8      12        16      20    24           28         32
 *  +------------+------------+------+---------+-------+-----+------------+----------+---------+
 *  | row, lower | row, upper | top  | first   | end   | left| first      | end      | mirrored|
 *  | 32 bits    | 32 bits    |      | row     | row   |     | column     | column   | 0 or 1  |
 *  +------------+------------+------+---------+-------+-----+------------+----------+---------+
 *  |&lt;------- located -------&gt;|&lt;---------- placed: see {@link Placement} -------------------&gt;|
 * </pre>
 *
 * @param located whether it contains the row number of the sample
 * @param placed whether it contains the placement of the sample
 */
record ControlDescriptor(boolean located, boolean placed) {
    private static final int ROW_INTS = 2;
    private static final int TOP = 0;
    private static final int FIRST_ROW = TOP + 1;
    private static final int END_ROW = FIRST_ROW + 1;
    private static final int LEFT = END_ROW + 1;
    private static final int FIRST_COLUMN = LEFT + 1;
    private static final int END_COLUMN = FIRST_COLUMN + 1;
    private static final int MIRRORED = END_COLUMN + 1;
    private static final int PLACEMENT_INTS = MIRRORED + 1;

    /** Returns the number of integers per sample. */
    int ints() {
        return placementOffset() + (placed ? PLACEMENT_INTS : 0);
    }

    private int placementOffset() {
        return located ? ROW_INTS : 0;
    }

    private int byteOffset(int sample) {
        return Math.multiplyExact(sample, ints() * Integer.BYTES);
    }

    void writeRow(MutableDirectBuffer target, int sample, long row) {
        int at = byteOffset(sample);
        target.putInt(at, (int) row);
        target.putInt(at + Integer.BYTES, (int) (row >>> 32));
    }

    void writePlacement(MutableDirectBuffer target, int sample, Placement placement) {
        int at = byteOffset(sample) + placementOffset() * Integer.BYTES;
        target.putInt(at + TOP * Integer.BYTES, placement.top);
        target.putInt(at + FIRST_ROW * Integer.BYTES, placement.firstRow);
        target.putInt(at + END_ROW * Integer.BYTES, placement.endRow);
        target.putInt(at + LEFT * Integer.BYTES, placement.left);
        target.putInt(at + FIRST_COLUMN * Integer.BYTES, placement.firstColumn);
        target.putInt(at + END_COLUMN * Integer.BYTES, placement.endColumn);
        target.putInt(at + MIRRORED * Integer.BYTES, placement.mirrored ? 1 : 0);
    }

    long readRow(ByteBuffer control, int sample) {
        ByteBuffer ints = control.duplicate().order(ByteOrder.nativeOrder());
        int at = byteOffset(sample);
        return (ints.getInt(at) & 0xffff_ffffL) | (long) ints.getInt(at + Integer.BYTES) << 32;
    }

    void readPlacement(ByteBuffer control, int sample, Placement placement) {
        ByteBuffer ints = control.duplicate().order(ByteOrder.nativeOrder());
        int at = byteOffset(sample) + placementOffset() * Integer.BYTES;
        placement.top = ints.getInt(at + TOP * Integer.BYTES);
        placement.firstRow = ints.getInt(at + FIRST_ROW * Integer.BYTES);
        placement.endRow = ints.getInt(at + END_ROW * Integer.BYTES);
        placement.left = ints.getInt(at + LEFT * Integer.BYTES);
        placement.firstColumn = ints.getInt(at + FIRST_COLUMN * Integer.BYTES);
        placement.endColumn = ints.getInt(at + END_COLUMN * Integer.BYTES);
        placement.mirrored = ints.getInt(at + MIRRORED * Integer.BYTES) != 0;
    }

    /** Returns source code that reads the row number. */
    String rowText() {
        return "(ulong) (uint) control[0] | ((ulong) (uint) control[1] << 32)";
    }

    /** Returns source code that reads the placement into variables, which have the field names of {@link Placement}. */
    String placementText() {
        int first = placementOffset();
        return "  const int top = control[" + (first + TOP) + "], firstRow = control[" + (first + FIRST_ROW)
                + "], endRow = control[" + (first + END_ROW) + "], left = control[" + (first + LEFT)
                + "],\n    firstColumn = control[" + (first + FIRST_COLUMN) + "], endColumn = control["
                + (first + END_COLUMN) + "], mirrored = control[" + (first + MIRRORED) + "];\n";
    }

    /** Returns the text that sets the same variables to a fixed placement. */
    static String placementText(Placement fixed) {
        return "  const int top = " + fixed.top + ", firstRow = " + fixed.firstRow + ", endRow = " + fixed.endRow
                + ", left = " + fixed.left + ",\n    firstColumn = " + fixed.firstColumn + ", endColumn = "
                + fixed.endColumn + ", mirrored = " + (fixed.mirrored ? 1 : 0) + ";\n";
    }
}
