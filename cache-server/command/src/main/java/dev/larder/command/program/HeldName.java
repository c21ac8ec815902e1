package dev.larder.command.program;

import dev.larder.command.options.NameConverter;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.Names;
import org.jspecify.annotations.Nullable;

/**
 * A dataset that a program leases, or one of its arrays.
 *
 * @param dataset the dataset
 * @param array the array; the program gets its path; null for the whole dataset
 */
public record HeldName(String dataset, @Nullable String array) {
    private static final String PATH_VARIABLE = "LARDER_PATH_";

    /** Reads {@code DATASET} or {@code DATASET/ARRAY}. */
    public static HeldName parse(String text) {
        String name = NameConverter.withoutEnd(text);
        if (name.indexOf('/') < 0) {
            Names.requireDataset(name);
            return new HeldName(name, null);
        }
        ArrayName array = ArrayName.parse(name);
        return new HeldName(array.dataset(), array.array());
    }

    /** Returns the environment variable for its path: capitals and digits; other characters become {@code _}. */
    public String variable() {
        StringBuilder variable = new StringBuilder(PATH_VARIABLE);
        toString().codePoints().map(HeldName::inVariable).forEach(variable::appendCodePoint);
        return variable.toString();
    }

    private static int inVariable(int c) {
        if (c >= 'a' && c <= 'z') {
            return c - 'a' + 'A';
        }
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    }

    @Override
    public String toString() {
        return array == null ? dataset : dataset + "/" + array;
    }
}
