package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;

/**
 * The full name of an array: {@code dataset/array}.
 *
 * @param dataset the name of its dataset
 * @param array its name within the dataset, which may have several levels
 */
public record ArrayName(String dataset, String array) {
    /** Checks both parts. */
    public ArrayName {
        Names.requireDataset(dataset);
        Names.requireArray(array);
    }

    /** Splits {@code dataset/array} at its first slash. Fails with {@link ErrorCode#BAD_INPUT} if either part is bad. */
    public static ArrayName parse(String name) {
        int slash = name.indexOf('/');
        if (slash < 0) {
            throw Failure.of(ErrorCode.BAD_INPUT, "bad array name")
                    .with("name", Names.printable(name))
                    .remedy("name the array as DATASET/ARRAY");
        }
        return new ArrayName(name.substring(0, slash), name.substring(slash + 1));
    }

    @Override
    public String toString() {
        return dataset + "/" + array;
    }
}
