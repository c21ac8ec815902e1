package dev.larder.launch.grid;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Words with the names of parameters in braces. Two braces on each side are one, and no parameter. */
record CommandTemplate(List<String> words) {
    private static final Pattern PLACE = Pattern.compile("\\{(\\{)?(" + Axis.NAME + ")}(})?");

    /** Refuses a name in braces that is not a parameter. */
    void require(List<Axis> axes) {
        for (String word : words) {
            Matcher place = PLACE.matcher(word);
            while (place.find()) {
                String name = place.group(2);
                if (!isEscaped(place)
                        && axes.stream().noneMatch(axis -> axis.name().equals(name))) {
                    throw Failure.of(ErrorCode.USAGE, "the command names a parameter that is not given")
                            .with("name", "{" + name + "}")
                            .with("parameters", axes.stream().map(Axis::name).toList())
                            .remedy("give " + name + "=VALUE, or write {{" + name
                                    + "}} for braces of the command's own");
                }
            }
        }
    }

    /** Returns the words with values in place of names. */
    List<String> with(Map<String, String> parameters) {
        return words.stream().map(word -> fill(word, parameters)).toList();
    }

    private static String fill(String word, Map<String, String> parameters) {
        return PLACE.matcher(word).replaceAll(place -> {
            String name = place.group(2);
            String value = parameters.getOrDefault(name, "");
            return Matcher.quoteReplacement(
                    isEscaped(place) ? "{" + name + "}" : braceOf(place, 1) + value + braceOf(place, 3));
        });
    }

    private static String braceOf(MatchResult place, int group) {
        String brace = place.group(group);
        return brace == null ? "" : brace;
    }

    private static boolean isEscaped(MatchResult place) {
        return place.group(1) != null && place.group(3) != null;
    }
}
