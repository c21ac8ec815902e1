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

/** Takes addresses apart. */
final class Address {
    private static final int LARGEST_PORT = 65_535;

    /** What may not stand in an address as it is, and a percent sign that is none of an escape. */
    private static final Pattern UNUSUAL = Pattern.compile("[^A-Za-z0-9._~:/?#@!$&'()*+,;=%-]|%(?![0-9A-Fa-f]{2})");

    private Address() {}

    /** Returns an address as it is requested: without a user, a password or a fragment, in ASCII alone. */
    static URI requested(String address) throws BadSource {
        try {
            URI uri = new URI(new URI(address).toASCIIString());
            String host = uri.getHost();
            String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
            if (host == null || !("http".equals(scheme) || "https".equals(scheme))) {
                throw malformed("it has no host");
            } else if (uri.getPort() > LARGEST_PORT) {
                throw malformed("no server has such a port");
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
                "it is no address of a file: " + reason,
                "give http://host/path or https://host/path; write a space as %20");
    }

    /** Returns the user and password that an address has itself, with a colon between; null where it has none. */
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

    /** Returns a link as a browser understands it: with escapes for what should have been escaped. */
    static String tidied(String link) {
        return UNUSUAL.matcher(link)
                .replaceAll(found ->
                        URLEncoder.encode(found.group(), StandardCharsets.UTF_8).replace("+", "%20"));
    }

    static String decoded(String part) {
        return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
