package dev.larder.readers.http;

import dev.larder.reader.BadSource;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds credentials for a server: in the address, in a variable, or in a netrc file. Messages never contain them. */
final class HttpCredentials {
    /** Contains {@code HOST NAME: VALUE}; the header is sent only to that host. */
    static final String HEADER_VARIABLE = "LARDER_HTTP_HEADER";

    private static final Pattern HEADER =
            Pattern.compile("(?<host>\\S+) +(?<name>[A-Za-z0-9!#$%&'*+.^_`|~-]+) *:(?<value>[^\\p{Cntrl}]*)");
    private static final Set<String> NETRC_WORDS = Set.of("machine", "login", "password", "account", "macdef");
    private static final String AUTHORIZATION = "Authorization";

    private final Map<String, String> environment;

    /**
     * A header to send.
     *
     * @param header its name; empty if there are no credentials
     * @param source the file or variable that contains it, for messages
     */
    record Found(String header, String value, String source) {
        @Override
        public String toString() {
            return source;
        }
    }

    HttpCredentials(Map<String, String> environment) {
        this.environment = Map.copyOf(environment);
    }

    /** Returns those for a server that the user named; {@code userInfo} is the part of the address, if any. */
    Found of(URI address, @Nullable String userInfo) throws BadSource {
        return userInfo != null ? basic(userInfo, "address") : ofHost(address.getHost(), true);
    }

    /** Returns those for a server that another server redirects to: only those for exactly this host. */
    Found ofRedirected(URI address) throws BadSource {
        return ofHost(address.getHost(), false);
    }

    private Found ofHost(String host, boolean takesDefault) throws BadSource {
        String words = environment.getOrDefault(HEADER_VARIABLE, "").strip();
        Matcher header = HEADER.matcher(words);
        if (!words.isEmpty() && !header.matches()) { // it is secret, so no message quotes it
            throw HttpReader.bad(
                    "$" + HEADER_VARIABLE + " is malformed",
                    "give it a host and a header, such as 'data.example.org Authorization: Bearer TOKEN'");
        } else if (!words.isEmpty() && header.group("host").equalsIgnoreCase(host)) {
            return new Found(header.group("name"), header.group("value").strip(), "$" + HEADER_VARIABLE);
        }
        Path netrc = netrc();
        String login = Files.isReadable(netrc) ? login(netrc, host, takesDefault) : null;
        return login == null ? new Found("", "", "none") : basic(login, netrc.toString());
    }

    private static Found basic(String userInfo, String source) {
        String encoded = Base64.getEncoder().encodeToString(userInfo.getBytes(StandardCharsets.UTF_8));
        return new Found(AUTHORIZATION, "Basic " + encoded, source);
    }

    private Path netrc() {
        String named = environment.get("NETRC");
        return named == null || named.isEmpty()
                ? Path.of(environment.getOrDefault("HOME", "/"), ".netrc")
                : Path.of(named);
    }

    /** Returns user and password for a host, or null; the default entry of the file counts only with {@code takesDefault}. */
    private static @Nullable String login(Path netrc, String host, boolean takesDefault) throws BadSource {
        boolean isMeant = false;
        String login = "";
        String password = "";
        String keyword = "";
        for (String word : words(netrc)) {
            if (!keyword.isEmpty()) {
                isMeant = keyword.equals("machine") ? word.equalsIgnoreCase(host) : isMeant;
                login = keyword.equals("login") ? word : login;
                password = keyword.equals("password") ? word : password;
                keyword = "";
                continue;
            }
            String small = word.toLowerCase(Locale.ROOT);
            if (small.equals("machine") || small.equals("default")) {
                if (isMeant && !password.isEmpty()) {
                    break;
                }
                isMeant = small.equals("default") && takesDefault;
                login = "";
                password = "";
            }
            keyword = NETRC_WORDS.contains(small) ? small : "";
        }
        return isMeant && !password.isEmpty() ? login + ":" + password : null;
    }

    /** Returns the words of a file without its comments; a password may begin with the sign of a comment. */
    private static List<String> words(Path netrc) throws BadSource {
        List<String> words = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(netrc)) {
                boolean isValue = !words.isEmpty() && isBeforeValue(words);
                for (String word : line.strip().split("\\s+", -1)) {
                    if (word.startsWith("#") && !isValue) {
                        break;
                    } else if (!word.isEmpty()) {
                        words.add(word);
                        isValue = !isValue && isBeforeValue(words);
                    }
                }
            }
            return words;
        } catch (IOException e) {
            throw HttpReader.bad("the netrc file cannot be read: " + netrc, "make it readable, or remove it");
        }
    }

    private static boolean isBeforeValue(List<String> words) {
        return NETRC_WORDS.contains(words.get(words.size() - 1).toLowerCase(Locale.ROOT));
    }
}
