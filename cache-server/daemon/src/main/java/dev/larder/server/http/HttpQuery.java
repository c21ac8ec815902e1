package dev.larder.server.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a client wants to know beyond the path.
 *
 * @param parameters of the address, decoded; of one that is given twice the first
 * @param accept the forms that the client takes, as it says it; empty where it does not
 */
public record HttpQuestion(Map<String, String> parameters, String accept) {
    public HttpQuestion {
        parameters = Map.copyOf(parameters);
    }

    /** Reads the part of an address behind its question mark; null for none. What cannot be decoded is left out. */
    static HttpQuestion of(@Nullable String query, @Nullable String accept) {
        Map<String, String> parameters = new LinkedHashMap<>();
        Arrays.stream((query == null ? "" : query).split("&", -1)).forEach(parameter -> {
            int equals = parameter.indexOf('=');
            if (equals > 0) {
                try {
                    parameters.putIfAbsent(
                            URLDecoder.decode(parameter.substring(0, equals), StandardCharsets.UTF_8),
                            URLDecoder.decode(parameter.substring(equals + 1), StandardCharsets.UTF_8));
                } catch (IllegalArgumentException malformed) {
                    return;
                }
            }
        });
        return new HttpQuestion(parameters, accept == null ? "" : accept);
    }

    /** Returns a parameter; empty where it is not given. */
    public String text(String name) {
        return parameters.getOrDefault(name, "");
    }

    /** Returns a parameter that is a number from 0 to {@code most}; what is none, or is not given, counts as {@code usual}. */
    public int number(String name, int usual, int most) {
        String text = text(name);
        return text.matches("\\d{1,9}") ? Math.min(most, Integer.parseInt(text)) : usual;
    }
}
