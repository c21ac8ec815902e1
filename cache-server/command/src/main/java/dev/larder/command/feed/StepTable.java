package dev.larder.command.feed;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.NearNames;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Steps that a command line writes, {@code toFloat,normalize(0.286,0.353)}: their names, parameters, and the functions that apply them.
 * A list of numbers is in brackets; a step without arguments needs no parentheses.
 *
 * @param <T> the value that steps change
 */
final class StepTable<T> {
    private final Map<String, Syntax<T>> steps = new LinkedHashMap<>();

    /** The parameters of a step, and the function that appends it. A parameter {@code name=value} is optional. */
    private record Syntax<T>(String name, List<String> parameters, BiFunction<T, Written, T> addition) {
        boolean takes(int arguments) {
            long needed = parameters.stream()
                    .filter(parameter -> parameter.indexOf('=') < 0)
                    .count();
            return arguments >= needed && arguments <= parameters.size();
        }

        @Override
        public String toString() {
            return parameters.isEmpty() ? name : name + "(" + String.join(",", parameters) + ")";
        }
    }

    StepTable<T> add(String name, BiFunction<T, Written, T> addition, String... parameters) {
        steps.put(name, new Syntax<>(name, List.of(parameters), addition));
        return this;
    }

    /** Returns the names of all steps. */
    List<String> names() {
        return List.copyOf(steps.keySet());
    }

    /** Returns the name of a step. */
    static String nameOf(String step) {
        int open = step.indexOf('(');
        return (open < 0 ? step : step.substring(0, open)).strip();
    }

    /** Applies a step for an array; fails with USAGE, which names the wrong step and argument. */
    T apply(T begun, String array, String text) {
        Syntax<T> syntax = steps.get(nameOf(text));
        if (syntax == null) {
            throw unknown(array, text, names());
        }
        int open = text.indexOf('(');
        if (open >= 0 && !text.endsWith(")")) {
            throw wrong("a step does not end with its parenthesis", array, text).remedy("write " + syntax);
        }
        String inside = open < 0 ? "" : text.substring(open + 1, text.length() - 1);
        List<String> arguments = inside.isBlank() ? List.of() : split(array, inside);
        if (!syntax.takes(arguments.size())) {
            throw wrong("wrong number of arguments of a step", array, text).remedy("write " + syntax);
        }
        try {
            return syntax.addition.apply(
                    begun, new Written(array, text, syntax.toString(), syntax.parameters, arguments));
        } catch (IllegalArgumentException | IllegalStateException | LarderException refused) {
            if (refused instanceof LarderException failure && failure.code() == ErrorCode.USAGE) {
                throw failure;
            }
            throw wrong("a step does not take these arguments", array, text)
                    .with("reason", refused.getMessage())
                    .remedy("write " + syntax);
        }
    }

    /** Returns the failure for a step that no table has. */
    static LarderException unknown(String array, String step, Collection<String> names) {
        String name = nameOf(step);
        List<String> near = NearNames.of(name, names);
        return wrong("no such step", array, name)
                .remedy((near.isEmpty() ? "" : "did you mean " + near.get(0) + "? ") + "there are "
                        + String.join(", ", names));
    }

    static Failure wrong(String what, String array, String step) {
        return Failure.of(ErrorCode.USAGE, what).with("array", array).with("step", step);
    }

    /** Splits at commas outside of parentheses and brackets. */
    static List<String> split(String array, String text) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int begin = 0;
        for (int i = 0; i < text.length(); i++) {
            char each = text.charAt(i);
            if (each == '(' || each == '[') {
                depth++;
            } else if (each == ')' || each == ']') {
                depth--;
            } else if (each == ',' && depth == 0) {
                parts.add(text.substring(begin, i).strip());
                begin = i + 1;
            }
        }
        parts.add(text.substring(begin).strip());
        if (depth != 0) {
            throw wrong("parentheses of a step do not match", array, text)
                    .remedy("write STEP,STEP(ARGUMENT,ARGUMENT); quote it for the shell");
        }
        return parts;
    }

    /** A step as the user typed it. */
    record Written(String array, String step, String syntax, List<String> parameters, List<String> arguments) {
        String text(int place) {
            String parameter = parameters.get(place);
            return place < arguments.size() ? arguments.get(place) : parameter.substring(parameter.indexOf('=') + 1);
        }

        float real(int place) {
            return real(place, text(place));
        }

        float[] reals(int place) {
            String text = text(place);
            if (!text.matches("\\[.*\\]")) {
                throw wrong(place, "not a list of numbers", text);
            }
            List<String> parts = split(array, text.substring(1, text.length() - 1));
            float[] values = new float[parts.size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = real(place, parts.get(i));
            }
            return values;
        }

        int whole(int place) {
            try {
                return Integer.parseInt(text(place));
            } catch (NumberFormatException e) {
                throw wrong(place, "not a whole number", text(place));
            }
        }

        /** Parses one of a few words in lower case. */
        <E extends Enum<E>> E oneOf(int place, E[] values) {
            String text = text(place);
            for (E value : values) {
                if (value.name().toLowerCase(Locale.ROOT).equals(text)) {
                    return value;
                }
            }
            String words = Stream.of(values)
                    .map(value -> value.name().toLowerCase(Locale.ROOT))
                    .collect(Collectors.joining(", "));
            throw wrong(place, "none of " + words, text);
        }

        private float real(int place, String text) {
            try {
                float value = Float.parseFloat(text);
                if (Float.isFinite(value)) {
                    return value;
                }
            } catch (NumberFormatException e) {
                throw wrong(place, "not a number", text);
            }
            throw wrong(place, "not a number", text);
        }

        private LarderException wrong(int place, String what, String text) {
            return StepTable.wrong("an argument of a step is " + what, array, step)
                    .with(parameters.get(place).replaceFirst("=.*", ""), text)
                    .remedy("write " + syntax);
        }
    }
}
