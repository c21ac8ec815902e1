package dev.larder.internal.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Distinguishes addresses such as {@code https://host/path} from paths, and finds the secrets in an address: users, passwords
 * and signed queries. Larder neither stores nor shows them.
 */
public final class SourceAddress {
    private static final Pattern ADDRESS = Pattern.compile(
            "(?<scheme>[A-Za-z][A-Za-z0-9+-]{1,15})://(?<authority>[^/?#]*)(?<path>.*)", Pattern.DOTALL);

    /** Names of parameters with a signature or a password, as used by AWS, Google, Azure and others. */
    private static final Pattern SECRET = Pattern.compile(
            "(?i)(^|&)(x-(amz|goog|ms|oss)-[^&=]*|awsaccesskeyid|[^&=]*(sig|sign|signature|token|jwt|hmac|ticket|secret|pass|pwd|credential|auth"
                    + "|key|policy|session|expires)[^&=]*)=");

    private SourceAddress() {}

    /** Returns whether this is an address and not a path. */
    public static boolean is(String text) {
        return ADDRESS.matcher(text).matches();
    }

    /** Returns the scheme of an address, in lower case. */
    public static String scheme(String address) {
        return parts(address).group("scheme").toLowerCase(Locale.ROOT);
    }

    /** Returns the address without its secrets. */
    public static String visible(String address) {
        Matcher parts = parts(address);
        String authority = parts.group("authority");
        String path = parts.group("path");
        return parts.group("scheme") + "://"
                + authority.substring(secretUser(address).length())
                + path.substring(0, path.length() - secretQuery(address).length());
    }

    /** Returns the secrets of an address: the whole of each, and its pieces. */
    public static List<String> secrets(String address) {
        List<String> secrets = new ArrayList<>();
        String user = secretUser(address);
        if (!user.isEmpty()) {
            secrets.add(user);
            secrets.add(user.substring(user.indexOf(':') + 1, user.length() - 1));
        }
        String query = secretQuery(address);
        if (!query.isEmpty()) {
            secrets.add(query);
            secrets.add(query.substring(1));
        }
        secrets.removeIf(String::isEmpty);
        return secrets;
    }

    /**
     * Returns user and password with the final {@code @}. In an address that is not HTTP, a user alone is not a secret, such as
     * a container of Azure.
     */
    private static String secretUser(String address) {
        String authority = parts(address).group("authority");
        String user = authority.substring(0, authority.lastIndexOf('@') + 1);
        return isWeb(address) || user.indexOf(':') >= 0 ? user : "";
    }

    private static boolean isWeb(String address) {
        return scheme(address).startsWith("http");
    }

    /** Returns the query with its question mark, if it contains a signature or a password. */
    private static String secretQuery(String address) {
        Matcher parts = parts(address);
        String path = parts.group("path");
        int query = path.indexOf('?');
        return isWeb(address)
                        && query >= 0
                        && SECRET.matcher(path.substring(query + 1)).find()
                ? path.substring(query)
                : "";
    }

    private static Matcher parts(String address) {
        Matcher parts = ADDRESS.matcher(address);
        if (!parts.matches()) {
            throw new IllegalArgumentException("not an address");
        }
        return parts;
    }
}
