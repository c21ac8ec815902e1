package dev.larder.readers.http;

import dev.larder.reader.BadSource;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses addresses. */
final class Address {
    private static final int LARGEST_PORT = 65_535;

    /** Characters that need an escape, and a percent sign that begins no escape. */
    private static final Pattern UNUSUAL = Pattern.compile("[^A-Za-z0-9._~:/?#@!$&'()*+,;=%-]|%(?![0-9A-Fa-f]{2})");

    private Address() {}

    /** Returns the address to request: in ASCII, without user, password and fragment. */
    static URI requested(String address) throws BadSource {
        try {
            URI uri = new URI(new URI(address).toASCIIString());
            String host = uri.getHost();
            String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
            if (host == null || !("http".equals(scheme) || "https".equals(scheme))) {
                throw malformed("it has no host");
            } else if (uri.getPort() > LARGEST_PORT) {
                throw malformed("its port is too large");
            }
            String path = uri.getRawPath() == null || uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
            String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
            return new URI(scheme + "://" + host + (uri.getPort() < 0 ? "" : ":" + uri.getPort()) + path + query);
        } catch (URISyntaxException e) {
            throw malformed(String.valueOf(e.getReason()));
        }
    }

    private static BadSource malformed(String reason) {
        return new BadSource(
                0,
                BadSource.NOWHERE,
                "",
                "it is not the address of a file: " + reason,
                "give http://host/path or https://host/path; write a space as %20");
    }

    /** Returns the user and password of an address, separated by a colon, or null if there are none. */
    static @Nullable String userInfo(String address) throws BadSource {
        try {
            return new URI(address).getUserInfo();
        } catch (URISyntaxException e) {
            throw malformed(String.valueOf(e.getReason()));
        }
    }

    static boolean isFolder(String address) throws BadSource {
        return requested(address).getPath().endsWith("/");
    }

    /** Returns the last part of an address's path. */
    static String fileName(String address) throws BadSource {
        String path = requested(address).getPath();
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** Returns a link with the escapes that a browser would add. */
    static String tidied(String link) {
        return UNUSUAL.matcher(link)
                .replaceAll(found ->
                        URLEncoder.encode(found.group(), StandardCharsets.UTF_8).replace("+", "%20"));
    }

    static String decoded(String part) {
        return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
