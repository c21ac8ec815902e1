package dev.larder.loader.internal.transform;

import dev.larder.internal.number.Bfloat16;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The operations of the steps on each number, in order: exactly as declared, rounded after every operation, nothing fused.
 *
 * @param stored the encoding of the input elements
 * @param result the encoding of the output elements
 * @param channels the channel of each element, for operations that depend on it
 */
record Arithmetic(Encoding stored, Encoding result, List<Operation> operations, Channels channels) {
    /** One operation; all but conversions are between float32 numbers. */
    sealed interface Operation {
        /** Converts elements to another type. */
        record Convert(NumberType from, NumberType to) implements Operation {}

        /** Divides unsigned bytes by 255. */
        record DivideBytes() implements Operation {}

        /** Converts floats to unsigned 16-bit integers: the bits of the nearest bfloat16 number. */
        record ToBfloat16() implements Operation {}

        /** Converts the bits of bfloat16 numbers to floats. */
        record FromBfloat16() implements Operation {}

        /** Multiplies, rounds, adds. */
        record MultiplyAdd(float factor, float offset) implements Operation {}

        /** Subtracts the mean of the element's channel, rounds, multiplies with the inverse of its deviation. */
        @SuppressWarnings("ArrayRecordComponent") // never compared
        record Center(float[] means, float[] inverses) implements Operation {}
    }

    /** Returns the same operations with another channel stride: the number of consecutive elements of one channel. */
    Arithmetic withStride(int stride) {
        return new Arithmetic(stored, result, operations, new Channels(channels.count(), stride));
    }

    /** Computes {@code count} elements of a sample, starting at its first. */
    void run(byte[] bytes, int at, int count, @Nullable Object target, long offset, NumberBlock block) {
        for (int first = 0; first < count; first += NumberBlock.LENGTH) {
            int length = Math.min(NumberBlock.LENGTH, count - first);
            block.decode(stored, bytes, at + first * stored.byteSize(), length);
            for (int i = 0; i < operations.size(); i++) {
                compute(operations.get(i), first, length, block);
            }
            block.encode(result, length, target, offset + (long) first * result.byteSize());
        }
    }

    private void compute(Operation operation, int first, int length, NumberBlock block) {
        if (operation instanceof Operation.Convert convert) {
            block.convert(convert.from(), convert.to(), length);
        } else if (operation instanceof Operation.Center center) {
            channels.normalize(block.floats, length, first, center.means(), center.inverses());
        } else if (operation instanceof Operation.MultiplyAdd affine) {
            multiplyAdd(block.floats, length, affine.factor(), affine.offset());
        } else if (operation instanceof Operation.ToBfloat16) {
            toBfloat16(block, length);
        } else if (operation instanceof Operation.FromBfloat16) {
            fromBfloat16(block, length);
        } else {
            divideBytes(block, length);
        }
    }

    private static void toBfloat16(NumberBlock block, int length) {
        for (int i = 0; i < length; i++) {
            block.longs[i] = Bfloat16.ofFloat(block.floats[i]);
        }
    }

    private static void fromBfloat16(NumberBlock block, int length) {
        for (int i = 0; i < length; i++) {
            block.floats[i] = Bfloat16.toFloat((int) block.longs[i]);
        }
    }

    private static void multiplyAdd(float[] values, int length, float factor, float offset) {
        for (int i = 0; i < length; i++) {
            values[i] = values[i] * factor + offset;
        }
    }

    private static void divideBytes(NumberBlock block, int length) {
        for (int i = 0; i < length; i++) {
            block.floats[i] = block.longs[i] / 255f;
        }
    }
}
