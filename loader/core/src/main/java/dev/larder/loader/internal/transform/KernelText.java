package dev.larder.loader.internal.transform;

import dev.larder.loader.internal.device.KernelSource;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The text of a kernel: each work item computes consecutive elements, read and written as vectors if possible.
 *
 * <p>Rows are counted in 64 bits, places inside a sample in 32.
 */
final class KernelText {
    /** The most bytes that a work item reads or writes at a time. */
    private static final int VECTOR_BYTES = 16;

    private final KernelPlan plan;
    private final KernelSource.Rows rows;
    private final ControlDescriptor control;
    private final int storedByteSize;

    /** The bytes of the unit that is moved or copied: an element, or part of an element that is not a number. */
    private final int word;

    private final int storedWord;
    private final int width;
    private final StringBuilder text = new StringBuilder();

    KernelText(KernelPlan plan, KernelSource.Rows rows, ControlDescriptor control, int storedByteSize) {
        this.plan = plan;
        this.rows = rows;
        this.control = control;
        this.storedByteSize = storedByteSize;
        boolean plain = plan.mover() == null && plan.oneHot() == null && plan.arithmetic() == null;
        this.word = plain
                ? powerOfTwo(plan.count() * plan.itemSize(), Long.BYTES)
                : powerOfTwo(plan.itemSize(), Long.BYTES);
        this.storedWord = plan.arithmetic() == null ? word : plan.storedItemSize();
        this.width = powerOfTwo(run(), VECTOR_BYTES / Math.max(word, plan.mover() == null ? storedWord : word));
        requireAligned(width * word, rowByteSize());
        requireAligned(isMoving() || plan.oneHot() != null ? 1 : width * storedWord, storedByteSize);
    }

    /** Checks that vectors are aligned to their size in every row: on misalignment, devices fault or read wrong data. */
    private static void requireAligned(int vectorByteSize, int rowByteSize) {
        if (rowByteSize % vectorByteSize != 0) {
            throw new IllegalStateException("vectorByteSize=" + vectorByteSize + " rowByteSize=" + rowByteSize);
        }
    }

    /** Returns the greatest power of two, at most {@code most}, that divides a length. */
    private static int powerOfTwo(int length, int most) {
        return Math.min(Integer.lowestOneBit(length), most);
    }

    /** Returns the unsigned type of this many bytes. */
    static String word(int byteSize) {
        return switch (byteSize) {
            case Byte.BYTES -> "uchar";
            case Short.BYTES -> "ushort";
            case Integer.BYTES -> "uint";
            case Long.BYTES -> "ulong";
            default -> throw new IllegalArgumentException("byteSize=" + byteSize);
        };
    }

    private boolean isMoving() {
        return plan.mover() != null;
    }

    private int rowByteSize() {
        return plan.count() * plan.itemSize();
    }

    /** Returns the number of words that are computed in the same way, so that a vector never crosses parts of a sample. */
    private int run() {
        if (plan.mover() != null) {
            return plan.mover().to().rowStride() * parts();
        }
        return plan.oneHot() == null ? rowByteSize() / word : plan.oneHot().classes();
    }

    /** Returns the number of words per element. */
    private int parts() {
        return plan.itemSize() / word;
    }

    int itemsPerSample() {
        return rowByteSize() / word / width;
    }

    /** Returns the whole text. */
    String source() {
        text.append("#pragma OPENCL FP_CONTRACT OFF\n");
        if (width > 1) { // the only syntax that differs in C++
            text.append("#ifndef __CUDACC__\n#define ")
                    .append(literal())
                    .append(" (")
                    .append(vector(word))
                    .append(")\n#endif\n");
        }
        text.append(KernelFunctions.text(plan.needsDoubles()));
        if (plan.arithmetic() != null) {
            text.append(ElementText.of(plan.arithmetic()));
        }
        border();
        text.append("__kernel void ").append(KernelSource.FUNCTION);
        text.append("(uint samples, __global const int *control, __global uchar *target");
        for (int i = 0; i < rows.shards(); i++) {
            text.append(", __global const uchar *source").append(i);
        }
        text.append(") {\n  const uint item = get_global_id(0), sample = get_global_id(1);\n");
        text.append("  if (item >= ").append(itemsPerSample()).append("U || sample >= samples) return;\n");
        rows();
        if (plan.oneHot() != null) {
            vectors(plan.oneHot());
        } else if (plan.mover() != null) {
            moved(plan.mover());
        } else {
            inPlace();
        }
        return text.append("}\n").toString();
    }

    private void border() {
        Border border = plan.border();
        if (border == null) {
            return;
        }
        String type = word(word);
        List<String> values = IntStream.range(0, border.values().length)
                .mapToObj(i -> "0x" + Long.toHexString(border.values()[i] & mask()) + "UL")
                .toList();
        text.append("__constant ").append(type).append(" larder_border[").append(values.size());
        text.append("] = {").append(String.join(", ", values)).append("};\n");
    }

    private long mask() {
        return word == Long.BYTES ? -1L : (1L << (8 * word)) - 1;
    }

    /** Finds the row of the sample and its shard. */
    private void rows() {
        if (control.ints() > 0) {
            text.append("  control += sample * ").append(control.ints()).append("UL;\n");
        }
        text.append("  ulong row = ")
                .append(rows.located() ? control.rowText() : "sample")
                .append(";\n  __global const uchar *source;\n");
        shard(0, rows.shards(), "  ");
        text.append("  source += ")
                .append(rows.start())
                .append("UL + row * ")
                .append(storedByteSize)
                .append("UL;\n");
    }

    private void shard(int first, int end, String indent) {
        if (end - first > 1) {
            int middle = (first + end) >>> 1;
            long row = middle * rows.rowsPerShard();
            text.append(indent).append("if (row < ").append(row).append("UL) {\n");
            shard(first, middle, indent + "  ");
            text.append(indent).append("} else {\n");
            shard(middle, end, indent + "  ");
            text.append(indent).append("}\n");
            return;
        }
        text.append(indent).append("source = source").append(first).append(";\n");
        if (first > 0) {
            text.append(indent).append("row -= ").append(first * rows.rowsPerShard());
            text.append("UL;\n");
        }
    }

    private void inPlace() {
        text.append("  const ").append(vector(storedWord)).append(" in = ((__global const ");
        text.append(vector(storedWord)).append(" *) source)[item];\n");
        if (plan.arithmetic() == null) {
            write("in");
            return;
        }
        channels("item * " + width);
        List<String> made = new ArrayList<>();
        for (int i = 0; i < width; i++) {
            made.add(ElementText.call(lane("in", i), channel(i)));
        }
        write(joined(made));
    }

    /** Prepares the variables of {@link #channel}, for elements from a position of the sample on. */
    private void channels(String first) {
        if (plan.arithmetic() != null && plan.arithmetic().channels().count() > 1) {
            text.append("  const uint first = ").append(first).append(";\n");
        }
    }

    private String channel(int lane) {
        if (plan.arithmetic() == null || plan.arithmetic().channels().count() == 1) {
            return "0";
        }
        Channels channels = plan.arithmetic().channels();
        return "(first + " + lane + ") / " + channels.stride() + "U % " + channels.count() + "U";
    }

    private void vectors(Pass.OneHot oneHot) {
        int labelBytes = oneHot.stored().byteSize();
        String classes = oneHot.classes() / width + "U";
        Arithmetic label =
                new Arithmetic(oneHot.stored(), new Encoding(NumberType.INT64, false), List.of(), Channels.ONE);
        text.append("  const ").append(word(labelBytes)).append(" bits = ((__global const ");
        text.append(word(labelBytes))
                .append(" *) source)[item / ")
                .append(classes)
                .append("];\n");
        text.append("  const long label = ")
                .append(ElementText.decoded(label.stored()))
                .append(";\n");
        text.append("  const long start = (long) (item % ")
                .append(classes)
                .append(") * ")
                .append(width);
        text.append(";\n");
        channels("item * " + width);
        List<String> made = new ArrayList<>();
        for (int i = 0; i < width; i++) {
            String bits = "(label == start + " + i + " ? 0x3f800000U : 0U)";
            made.add(plan.arithmetic() == null ? bits : ElementText.call(bits, channel(i)));
        }
        write(joined(made));
    }

    private void moved(Mover mover) {
        ImageShape from = mover.from();
        ImageShape to = mover.to();
        int line = run();
        place(mover);
        text.append("  const uint line = item / ").append(line / width).append("U, at = item % ");
        text.append(line / width).append("U * ").append(width).append(";\n");
        if (to.planar()) {
            text.append("  const uint channel = line / ").append(to.height()).append("U;\n");
            text.append("  const int y = line % ").append(to.height()).append("U;\n");
        } else {
            text.append("  const int y = line;\n");
        }
        text.append("  const bool inRow = y >= firstRow && y < endRow;\n");
        text.append("  const int direction = mirrored ? -1 : 1;\n");
        text.append("  __global const ").append(word(storedWord)).append(" *in = (__global const ");
        text.append(word(storedWord)).append(" *) source;\n");
        List<String> made = new ArrayList<>();
        for (int i = 0; i < width; i++) {
            made.add("r" + i);
            element(i, from, to);
        }
        write(joined(made));
    }

    private void place(Mover mover) {
        if (control.placed()) {
            text.append(control.placementText());
            return;
        }
        Placement fixed = new Placement();
        mover.place(fixed, new int[0]);
        text.append(ControlDescriptor.placementText(fixed));
    }

    /** Fetches one element and changes it: the lanes of an item are in one row, and in one plane if channels are first. */
    private void element(int lane, ImageShape from, ImageShape to) {
        int inner = to.columnStride() * parts();
        String channel = to.planar() ? "channel" : "rest" + lane;
        String rest = to.planar() ? "channel * " + parts() + " + rest" + lane : "rest" + lane;
        text.append("  const uint rest" + lane + " = (at + " + lane + ") % " + inner + "U;\n");
        text.append("  const int x" + lane + " = (at + " + lane + ") / " + inner + "U;\n");
        String inside = "true";
        if (plan.isBordered()) {
            inside = "in" + lane;
            text.append("  const bool " + inside + " = inRow && x" + lane + " >= firstColumn && x" + lane
                    + " < endColumn;\n");
        }
        int pixel = from.channels() * parts();
        String place =
                "((y + top) * " + from.width() + " + left + direction * x" + lane + ") * " + pixel + " + " + rest;
        String bits = plan.isBordered() ? inside + " ? in[" + place + "] : 0" : "in[" + place + "]";
        text.append("  const ")
                .append(word(storedWord))
                .append(" s" + lane + " = ")
                .append(bits);
        text.append(";\n");
        String made = plan.arithmetic() == null ? "s" + lane : ElementText.call("s" + lane, channel);
        if (plan.border() != null) {
            made = inside + " ? " + made + " : larder_border[" + channel + "]";
        }
        text.append("  const ").append(word(word)).append(" r" + lane + " = ").append(made);
        text.append(";\n");
    }

    private String vector(int wordSize) {
        return word(wordSize) + (width == 1 ? "" : width);
    }

    private String lane(String vector, int lane) {
        return width == 1 ? vector : vector + ".s" + Integer.toHexString(lane);
    }

    private String joined(List<String> lanes) {
        return width == 1 ? lanes.get(0) : literal() + " (" + String.join(",\n    ", lanes) + ")";
    }

    /** Returns the expression that joins the lanes to a vector. */
    private String literal() {
        return "larder_" + vector(word);
    }

    private void write(String value) {
        text.append("  ((__global ").append(vector(word)).append(" *) (target + sample * ");
        text.append(rowByteSize()).append("UL))[item] =\n    ").append(value).append(";\n");
    }
}
