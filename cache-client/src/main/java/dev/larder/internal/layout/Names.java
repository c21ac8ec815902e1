package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rules for names of datasets and arrays, which make them safe in paths, messages and command lines.
 *
 * <p>A dataset is one path component of Unicode letters, digits and {@code + . _ -} that does not start with a dot. The name of
 * an array has one or more such components, separated by {@code /}. Its components may also contain {@code =} and start with a
 * dot, but none is {@code .} or {@code ..}.
 */
public final class Names {
    /** The longest component in bytes of UTF-8: the limit of file systems, less space for a suffix. */
    public static final int COMPONENT_LIMIT = 240;

    /** The longest name of an array in bytes of UTF-8. */
    public static final int ARRAY_LIMIT = 1024;

    private static final int SHOWN = 80;

    private Names() {}

    /** Returns the dataset from the name of a dataset or the full name of an array. */
    public static String datasetIn(String name) {
        return name.indexOf('/') < 0 ? name : name.substring(0, name.indexOf('/'));
    }

    /** Returns the array from the full name of an array, or null for the name of a dataset, which may end with a slash. */
    public static @Nullable String arrayIn(String name) {
        int slash = name.indexOf('/');
        return slash < 0 || slash == name.length() - 1 ? null : name.substring(slash + 1);
    }

    /** Fails with {@link ErrorCode#BAD_INPUT} if a dataset cannot have this name. */
    public static void requireDataset(String name) {
        Objects.requireNonNull(name, "the dataset's name is null");
        require("bad dataset name", name, datasetObjection(name));
    }

    /** Fails with {@link ErrorCode#BAD_INPUT} if a ring cannot have this name. The rules are those of datasets. */
    public static void requireRing(String name) {
        require("bad ring name", name, datasetObjection(name));
    }

    /** Fails with {@link ErrorCode#BAD_INPUT} if an array of a dataset cannot have this name. */
    public static void requireArray(String name) {
        Objects.requireNonNull(name, "the array's name is null");
        require("bad array name", name, arrayObjection(name));
    }

    /** Returns the reason why a dataset cannot have this name, or null if it can. */
    public static @Nullable String datasetObjection(String name) {
        return name.startsWith(".") ? "it starts with a dot" : componentObjection(name, false);
    }

    /** Returns the reason why an array of a dataset cannot have this name, or null if it can. */
    public static @Nullable String arrayObjection(String name) {
        for (String component : name.split("/", -1)) {
            String objection = componentObjection(component, true);
            if (objection != null) {
                return objection;
            }
        }
        return utf8Length(name) > ARRAY_LIMIT ? "it is longer than " + ARRAY_LIMIT + " bytes" : null;
    }

    private static @Nullable String componentObjection(String component, boolean inArray) {
        if (component.isEmpty()) {
            return "a part of it is empty";
        } else if (component.equals(".") || component.equals("..")) {
            return "a part of it is " + component;
        } else if (utf8Length(component) > COMPONENT_LIMIT) {
            return "a part of it is longer than " + COMPONENT_LIMIT + " bytes";
        }
        return component
                .codePoints()
                .filter(c -> !isAllowed(c, inArray))
                .mapToObj(c -> String.format("it contains U+%04X, which is not allowed", c))
                .findFirst()
                .orElse(null);
    }

    private static boolean isAllowed(int c, boolean inArray) {
        return Character.isLetterOrDigit(c) || "+._-".indexOf(c) >= 0 || (inArray && c == '=');
    }

    private static int utf8Length(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    private static void require(String problem, String name, @Nullable String objection) {
        if (objection != null) {
            throw Failure.of(ErrorCode.BAD_INPUT, problem)
                    .with("name", printable(name))
                    .with("reason", objection)
                    .remedy("use letters, digits and + . _ -");
        }
    }

    /** Returns the beginning of any name, without control characters, for messages. */
    public static String printable(String name) {
        String beginning = name.length() <= SHOWN ? name : name.substring(0, SHOWN) + "...";
        return beginning.replaceAll("\\p{C}", "?");
    }
}
