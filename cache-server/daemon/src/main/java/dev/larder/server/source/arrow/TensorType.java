package dev.larder.server.source.arrow;

import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What Arrow's own extension says of lists of fixed size that are tensors.
 *
 * @param shape of a row, as its elements lie in the file
 * @param isTransposed whether readers are to see its dimensions in another order, or in one that makes no sense
 * @param words the extension for people, with the order of its dimensions
 */
record TensorType(List<Long> shape, boolean isTransposed, String words) {
    private static final String NAME = "arrow.fixed_shape_tensor";
    private static final int MOST_DIMENSIONS = 16;

    /** Keeps its own copy. */
    TensorType {
        shape = List.copyOf(shape);
    }

    /** Returns what is said of a list; null where nothing is that fits. */
    static @Nullable TensorType of(ArrowField list) {
        if (list.kind() != ArrowField.Kind.FIXED_LISTS
                || !list.extension().name().equals(NAME)) {
            return null;
        }
        try {
            JsonElement said = JsonParser.parseString(list.extension().parameters());
            JsonElement shape = Features.member(said, "shape");
            if (shape == null || !shape.isJsonArray()) {
                return null;
            }
            int dimensions = shape.getAsJsonArray().size();
            long[] numbers = Features.numbers(shape, dimensions);
            if (numbers == null || dimensions > MOST_DIMENSIONS || product(numbers) != list.size()) {
                return null;
            }
            JsonElement order = Features.member(said, "permutation");
            boolean isTransposed =
                    order != null && !order.isJsonNull() && !isIdentity(Features.numbers(order, dimensions));
            return new TensorType(
                    Arrays.stream(numbers).boxed().toList(), isTransposed, NAME + " with permutation " + order);
        } catch (JsonParseException | IllegalStateException | ArithmeticException e) {
            return null;
        }
    }

    /** Tells whether tensors of both can follow each other. */
    static boolean isSame(@Nullable TensorType one, @Nullable TensorType other) {
        if (one == null || other == null) {
            return one == null && other == null;
        }
        return one.shape.equals(other.shape) && one.isTransposed == other.isTransposed;
    }

    private static long product(long[] numbers) {
        return Arrays.stream(numbers).reduce(1, Math::multiplyExact);
    }

    private static boolean isIdentity(long @Nullable [] order) {
        if (order == null) {
            return false;
        }
        for (int i = 0; i < order.length; i++) {
            if (order[i] != i) {
                return false;
            }
        }
        return true;
    }
}
