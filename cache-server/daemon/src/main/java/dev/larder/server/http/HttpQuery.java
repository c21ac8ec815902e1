package dev.larder.server.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a request.
 *
 * @param parameters of the address, decoded; the first of several with one name
 * @param accept the media types that the client accepts, as it sent them; empty if it sent none
 */
public record HttpQuery(Map<String, String> parameters, String accept) {
    public HttpQuery {
        parameters = Map.copyOf(parameters);
    }

    /** Parses the part of an address behind its question mark; null for none. Omits parameters that cannot be decoded. */
    static HttpQuery of(@Nullable String query, @Nullable String accept) {
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
        return new HttpQuery(parameters, accept == null ? "" : accept);
    }

    /** Returns a parameter; empty if it is absent. */
    public String text(String name) {
        return parameters.getOrDefault(name, "");
    }

    /** Returns a numeric parameter, at most {@code most}; {@code usual} if it is absent or not a number from 0. */
    public int number(String name, int usual, int most) {
        String text = text(name);
        return text.matches("\\d{1,9}") ? Math.min(most, Integer.parseInt(text)) : usual;
    }
}
