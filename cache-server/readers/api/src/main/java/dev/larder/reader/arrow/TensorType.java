package dev.larder.reader.arrow;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The description of tensors, which are lists of fixed size with an extension of Arrow's own.
 *
 * @param shape of a row, as its elements lie in the file
 * @param isTransposed whether readers are to see its dimensions in another order, or in one that makes no sense
 * @param words the extension for people, with the order of its dimensions
 */
public record TensorType(List<Long> shape, boolean isTransposed, String words) {
    private static final String NAME = "arrow.fixed_shape_tensor";
    private static final int MOST_DIMENSIONS = 16;
    private static final Pattern SHAPE = Pattern.compile("\"shape\"\\s*:\\s*(\\[[\\d,\\s]*])");
    private static final Pattern PERMUTATION = Pattern.compile("\"permutation\"\\s*:\\s*(null|\\[[^]]*]|[^,}]*)");

    /** Keeps its own copy. */
    public TensorType {
        shape = List.copyOf(shape);
    }

    /** Returns the description of a list; null if it has none that fits. */
    public static @Nullable TensorType of(ArrowField list) {
        if (list.kind() != ArrowField.Kind.FIXED_LISTS
                || !list.extension().name().equals(NAME)) {
            return null;
        }
        Matcher said = SHAPE.matcher(list.extension().parameters());
        List<Long> shape = said.find() ? numbers(said.group(1)) : null;
        if (shape == null || shape.size() > MOST_DIMENSIONS || product(shape) != list.size()) {
            return null;
        }
        Matcher order = PERMUTATION.matcher(list.extension().parameters());
        boolean isTransposed = order.find() && !order.group(1).equals("null") && !isIdentity(numbers(order.group(1)));
        return new TensorType(shape, isTransposed, NAME + (isTransposed ? " with permutation " + order.group(1) : ""));
    }

    private static @Nullable List<Long> numbers(String list) {
        List<Long> numbers = new ArrayList<>();
        try {
            for (String number : list.substring(1, list.length() - 1).split(",", -1)) {
                if (!list.equals("[]")) {
                    numbers.add(Long.parseLong(number.strip()));
                }
            }
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            return null;
        }
        return numbers;
    }

    /** Returns whether tensors of both can follow each other. */
    static boolean isSame(@Nullable TensorType one, @Nullable TensorType other) {
        if (one == null || other == null) {
            return one == null && other == null;
        }
        return one.shape.equals(other.shape) && one.isTransposed == other.isTransposed;
    }

    /** Returns the product; -1 if it is beyond all lists. */
    private static long product(List<Long> numbers) {
        try {
            return numbers.stream().reduce(1L, Math::multiplyExact);
        } catch (ArithmeticException e) {
            return -1;
        }
    }

    private static boolean isIdentity(@Nullable List<Long> order) {
        if (order == null) {
            return false;
        }
        for (int i = 0; i < order.size(); i++) {
            if (order.get(i) != i) {
                return false;
            }
        }
        return true;
    }
}
