package dev.larder.command.feed;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.NearNames;
import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.DecodeSize;
import dev.larder.loader.transform.JpegDecoder;
import dev.larder.loader.transform.Resampling;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Parses the steps of a transform from a command line, {@code toFloat,normalize(0.286,0.353)}: the names of {@link Transform} with the
 * same arguments. A list of numbers is in brackets; a step without arguments needs no parentheses.
 */
public final class TransformText {
    private static final Map<String, Syntax> STEPS = new LinkedHashMap<>();

    static {
        add("toFloat", (begun, step) -> begun.toFloat());
        add("cast", (begun, step) -> begun.cast(step.text(0)), "dtype");
        add("scale", (begun, step) -> begun.scale(step.real(0), step.real(1)), "factor", "offset");
        add("normalize", TransformText::normalize, "mean", "deviation");
        add("toBfloat16", (begun, step) -> begun.toBfloat16());
        add("fromBfloat16", (begun, step) -> begun.fromBfloat16());
        add("randomCrop", TransformText::randomCrop, "height", "width", "padding");
        add("centerCrop", (begun, step) -> begun.centerCrop(step.whole(0), step.whole(1)), "height", "width");
        add("randomFlip", (begun, step) -> begun.randomFlip(step.real(0)), "probability=0.5");
        add("flip", (begun, step) -> begun.flip());
        add("channelsFirst", (begun, step) -> begun.channelsFirst());
        add("oneHot", (begun, step) -> begun.oneHot(step.whole(0)), "classes");
        add("decode", TransformText::decode, "colours=rgb", "size=full", "maxPixels=" + Step.Decode.MAX_PIXELS);
        add("resize", TransformText::resize, "height", "width", "filter=bilinear");
        add("resizeShorter", TransformText::resizeShorter, "side", "filter=bilinear");
        add("randomResizedCrop", TransformText::part, "height", "width", "minArea=0.08", "maxArea=1");
        add("colourJitter", TransformText::jitter, "brightness", "contrast", "saturation", "hue");
    }

    private TransformText() {}

    /** The parameters of a step, and the function that appends it. A parameter {@code name=value} is optional. */
    private record Syntax(String name, List<String> parameters, BiFunction<Transform, Written, Transform> addition) {
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

    private static void add(String name, BiFunction<Transform, Written, Transform> addition, String... parameters) {
        STEPS.put(name, new Syntax(name, List.of(parameters), addition));
    }

    private static Transform normalize(Transform begun, Written step) {
        return step.text(0).startsWith("[")
                ? begun.normalize(step.reals(0), step.reals(1))
                : begun.normalize(step.real(0), step.real(1));
    }

    private static Transform randomCrop(Transform begun, Written step) {
        return begun.randomCrop(step.whole(0), step.whole(1), step.whole(2));
    }

    private static Transform decode(Transform begun, Written step) {
        return begun.decode(new Step.Decode(
                step.oneOf(0, Colours.values()), step.oneOf(1, DecodeSize.values()), step.whole(2), JpegDecoder.AUTO));
    }

    private static Transform resize(Transform begun, Written step) {
        return begun.resize(step.whole(0), step.whole(1), step.oneOf(2, Resampling.values()));
    }

    private static Transform resizeShorter(Transform begun, Written step) {
        return begun.resizeShorter(step.whole(0), step.oneOf(1, Resampling.values()));
    }

    private static Transform part(Transform begun, Written step) {
        return begun.randomResizedCrop(step.whole(0), step.whole(1), step.real(2), step.real(3));
    }

    private static Transform jitter(Transform begun, Written step) {
        return begun.colourJitter(step.real(0), step.real(1), step.real(2), step.real(3));
    }

    /** Returns the names of all steps. */
    public static List<String> names() {
        return List.copyOf(STEPS.keySet());
    }

    /** Parses the steps for an array; fails with USAGE, which names the wrong step and argument. */
    public static Transform parse(String array, String text) {
        Transform transform = new Transform();
        for (String step : split(array, text)) {
            transform = add(transform, array, step);
        }
        return transform;
    }

    private static Transform add(Transform begun, String array, String text) {
        int open = text.indexOf('(');
        String name = (open < 0 ? text : text.substring(0, open)).strip();
        Syntax syntax = STEPS.get(name);
        if (syntax == null) {
            List<String> near = NearNames.of(name, STEPS.keySet());
            throw wrong("no such step", array, name)
                    .remedy((near.isEmpty() ? "" : "did you mean " + near.get(0) + "? ") + "there are "
                            + String.join(", ", STEPS.keySet()));
        }
        if (open >= 0 && !text.endsWith(")")) {
            throw wrong("a step does not end with its parenthesis", array, text).remedy("write " + syntax);
        }
        String inside = open < 0 ? "" : text.substring(open + 1, text.length() - 1);
        List<String> arguments = inside.isBlank() ? List.of() : split(array, inside);
        if (!syntax.takes(arguments.size())) {
            throw wrong("wrong number of arguments of a step", array, text).remedy("write " + syntax);
        }
        try {
            return syntax.addition.apply(begun, new Written(array, text, syntax, arguments));
        } catch (IllegalArgumentException | LarderException refused) {
            if (refused instanceof LarderException failure && failure.code() == ErrorCode.USAGE) {
                throw failure;
            }
            throw wrong("a step does not take these arguments", array, text)
                    .with("reason", refused.getMessage())
                    .remedy("write " + syntax);
        }
    }

    private static Failure wrong(String what, String array, String step) {
        return Failure.of(ErrorCode.USAGE, what).with("array", array).with("step", step);
    }

    /** Splits at commas outside of parentheses and brackets. */
    private static List<String> split(String array, String text) {
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
    private record Written(String array, String step, Syntax syntax, List<String> arguments) {
        String text(int place) {
            String parameter = syntax.parameters.get(place);
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
        <T extends Enum<T>> T oneOf(int place, T[] values) {
            String text = text(place);
            for (T value : values) {
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
            return TransformText.wrong("an argument of a step is " + what, array, step)
                    .with(syntax.parameters.get(place).replaceFirst("=.*", ""), text)
                    .remedy("write " + syntax);
        }
    }
}
