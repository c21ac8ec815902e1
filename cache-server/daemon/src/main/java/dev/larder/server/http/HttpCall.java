package dev.larder.server.http;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The head of a request; nothing else of it is read.
 *
 * @param headers the values of each header, by its name in lower case
 */
record HttpCall(String method, URI uri, Map<String, List<String>> headers) {
    private static final int MOST_HEADERS = 50;
    private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
    private static final Pattern REQUEST = Pattern.compile("(" + TOKEN + ") (\\S+) HTTP/1\\.[01]");

    /** Matches no character in two ways: several parts that match spaces would need hours for a line of 16 KiB of them. */
    private static final Pattern HEADER = Pattern.compile("(" + TOKEN + "):(.*)");

    HttpCall {
        headers = Map.copyOf(headers);
    }

    /** Parses a head, with lines that end with CR and LF. Returns null if it is malformed or has too many headers. */
    static @Nullable HttpCall parse(String head) {
        String[] lines = head.split("\r\n", -1);
        Matcher request = REQUEST.matcher(lines[0]);
        if (!request.matches() || lines.length > MOST_HEADERS + 1) {
            return null;
        }
        Map<String, List<String>> headers = new HashMap<>();
        for (int i = 1; i < lines.length; i++) {
            Matcher header = HEADER.matcher(lines[i]);
            if (!header.matches()) {
                return null;
            }
            headers.computeIfAbsent(header.group(1).toLowerCase(Locale.ROOT), name -> new ArrayList<>())
                    .add(header.group(2).strip());
        }
        try {
            return new HttpCall(request.group(1), new URI(request.group(2)), headers);
        } catch (URISyntaxException malformed) {
            return null;
        }
    }

    /** Returns the path; empty if the address has none. */
    String path() {
        return uri.getPath() == null ? "" : uri.getPath();
    }

    /** Returns the values of a header. The name is in lower case. */
    List<String> all(String name) {
        return headers.getOrDefault(name, List.of());
    }

    /** Returns the first value of a header; null if it is absent. */
    @Nullable
    String first(String name) {
        List<String> values = all(name);
        return values.isEmpty() ? null : values.get(0);
    }
}
