package dev.larder.launch.grid;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One point of a grid.
 *
 * @param number from 1; the last parameter changes fastest
 * @param words the command with its values
 */
public record GridJob(int number, Map<String, String> parameters, List<String> words) {
    /** Copies the collections. */
    public GridJob {
        parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
        words = List.copyOf(words);
    }

    /** Returns {@code lr=1e-3 seed=0}. */
    public String text() {
        return parameters.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(" "));
    }

    /** Returns the number in the names of files, with zeros so that they sort. */
    public String fileName() {
        return String.format(Locale.ROOT, "%04d", number);
    }
}
