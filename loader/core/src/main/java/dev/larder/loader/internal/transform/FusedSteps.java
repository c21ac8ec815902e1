package dev.larder.loader.internal.transform;

import dev.larder.npy.Dtype;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Steps of a transform that one pass can do: it moves the pixels as bytes, then changes the numbers. Both commute except for
 * the border of a crop, which is 0 in the number type at the crop.
 */
final class FusedSteps {
    private final Dtype stored;
    private final ImageShape storedPicture;
    private final List<Move> moves = new ArrayList<>();
    private final List<Arithmetic.Operation> operations = new ArrayList<>();
    private ImageShape picture;
    private boolean swapped;
    private @Nullable Dtype borderDtype;
    private int operationsBeforeBorder;

    FusedSteps(Dtype stored, ImageShape picture) {
        this.stored = stored;
        this.storedPicture = picture;
        this.picture = picture;
    }

    boolean isEmpty() {
        return moves.isEmpty() && operations.isEmpty() && !swapped && picture.equals(storedPicture);
    }

    void compute(Arithmetic.Operation operation) {
        operations.add(operation);
    }

    /** Changes the byte order of the output. */
    void swap() {
        swapped = true;
    }

    void move(Move move, ImageShape result) {
        moves.add(move);
        picture = result;
    }

    void reshape(ImageShape result) {
        picture = result;
    }

    /** Returns whether a border of zeros at this step would differ from the existing border. */
    boolean hasOtherBorder() {
        return borderDtype != null && operationsBeforeBorder != operations.size();
    }

    /** Adds a border of zeros of a type at this step. */
    void pad(Dtype dtype) {
        borderDtype = dtype;
        operationsBeforeBorder = operations.size();
    }

    /** Returns the pass, with output elements of this type. */
    Pass end(Dtype result) {
        boolean moved = !moves.isEmpty() || (picture.planar() != storedPicture.planar() && picture.channels() > 1);
        ElementOperation elements = elements(result);
        int count = picture.size();
        int byteSize = count * result.itemSize();
        boolean colours = storedPicture.channels() == 3 && operations.size() > 0;
        if (!moved && !colours) {
            return new Pass.Picked(null, elements, null, count, byteSize);
        }
        Mover mover = new Mover(storedPicture, picture, stored.itemSize(), List.copyOf(moves));
        Pass.Picked plain = new Pass.Picked(mover, elements, border(result), count, byteSize);
        return elements instanceof ElementOperation.LookedUp look
                        && look.table().itemSize() == Integer.BYTES
                ? new Pass.Looked(look.table().moving(mover, border(result)), plain)
                : plain;
    }

    private ElementOperation elements(Dtype result) {
        if (operations.isEmpty() && !swapped) {
            return new ElementOperation.Same(stored.itemSize());
        }
        Arithmetic arithmetic = arithmetic(stored, result, 0);
        boolean narrow = stored.itemSize() == 1 && arithmetic.channels().count() <= ByteTable.MAX_CHANNELS;
        return narrow
                ? new ElementOperation.LookedUp(ByteTable.of(arithmetic), arithmetic)
                : new ElementOperation.Computed(arithmetic);
    }

    private Arithmetic arithmetic(Dtype from, Dtype result, int firstOperation) {
        int count = 1;
        for (Arithmetic.Operation operation : operations) {
            if (operation instanceof Arithmetic.Operation.Center center) {
                count = Math.max(count, center.means().length);
            }
        }
        Channels channels = count == 1 ? Channels.ONE : new Channels(count, picture.channelStride());
        return new Arithmetic(
                Encoding.of(from),
                Encoding.of(result),
                List.copyOf(operations.subList(firstOperation, operations.size())),
                channels);
    }

    /** Returns the writer of the border, or null if the border equals the result for stored zeros. */
    private @Nullable Border border(Dtype result) {
        if (borderDtype == null || operationsBeforeBorder == 0) {
            return null;
        }
        byte[] wanted = ofZeros(arithmetic(borderDtype, result, operationsBeforeBorder), result);
        byte[] made = ofZeros(arithmetic(stored, result, 0), result);
        int itemSize = result.itemSize();
        return Arrays.equals(wanted, made) ? null : new Border(picture, itemSize, Border.values(wanted, itemSize));
    }

    /** Returns the result for a zero in each channel. */
    private byte[] ofZeros(Arithmetic arithmetic, Dtype result) {
        byte[] zeros = new byte[picture.channels() * arithmetic.stored().byteSize()];
        byte[] values = new byte[picture.channels() * result.itemSize()];
        arithmetic
                .withStride(1)
                .run(zeros, 0, picture.channels(), values, TransformTarget.BYTES_OFFSET, new NumberBlock());
        return values;
    }
}
