package dev.larder.readers.http;

import dev.larder.reader.BadSource;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds what proves to a server who asks: in the address itself, in a variable, or in a netrc file. Never says any of it. */
final class Credentials {
    /** Has {@code HOST NAME: VALUE}; the header is sent to that host alone. */
    static final String HEADER_VARIABLE = "LARDER_HTTP_HEADER";

    private static final String AUTHORIZATION = "Authorization";

    private final Map<String, String> environment;

    /**
     * What is sent.
     *
     * @param header its name; empty where nothing is
     * @param source where it was found, for people
     */
    record Found(String header, String value, String source) {
        @Override
        public String toString() {
            return source;
        }
    }

    Credentials(Map<String, String> environment) {
        this.environment = Map.copyOf(environment);
    }

    static Credentials ofEnvironment() {
        return new Credentials(System.getenv());
    }

    /** Returns those for a server; {@code userInfo} is what the address has itself. */
    Found of(URI address, @Nullable String userInfo) throws BadSource {
        if (userInfo != null) {
            return basic(userInfo, "address");
        }
        String header = environment.getOrDefault(HEADER_VARIABLE, "").strip();
        int host = header.indexOf(' ');
        int colon = header.indexOf(':', host + 1);
        if (!header.isEmpty() && (host < 0 || colon < 0)) {
            throw HttpReader.bad(
                    "$" + HEADER_VARIABLE + " is not understood",
                    "give it a host and a header, such as 'data.example.org Authorization: Bearer TOKEN'");
        } else if (!header.isEmpty() && header.substring(0, host).equalsIgnoreCase(address.getHost())) {
            return new Found(
                    header.substring(host + 1, colon).strip(),
                    header.substring(colon + 1).strip(),
                    "$" + HEADER_VARIABLE);
        }
        Path netrc = netrc();
        String login = Files.isReadable(netrc) ? login(netrc, address.getHost()) : null;
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

    /** Returns user and password for a host as the file has them, or those of its default. */
    private static @Nullable String login(Path netrc, String host) throws BadSource {
        String[] words;
        try {
            words = Files.readString(netrc)
                    .replaceAll("(?m)(^|\\s)#.*$", " ")
                    .strip()
                    .split("\\s+");
        } catch (IOException e) {
            throw HttpReader.bad("the netrc file cannot be read: " + netrc, "make it readable, or remove it");
        }
        boolean isMeant = false;
        String login = "";
        for (int i = 0; i < words.length; i++) {
            String next = i + 1 < words.length ? words[i + 1] : "";
            switch (words[i].toLowerCase(Locale.ROOT)) {
                case "machine" -> isMeant = next.equalsIgnoreCase(host);
                case "default" -> isMeant = true;
                case "login" -> login = isMeant ? next : login;
                case "password" -> {
                    if (isMeant) {
                        return login + ":" + next;
                    }
                }
                default -> {
                    continue;
                }
            }
            i += words[i].equals("default") ? 0 : 1;
        }
        return null;
    }
}
