package dev.larder.server.http;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The names of this server. Another site could make its own name resolve to this host (DNS rebinding); the browser then sends that name as
 * {@code Host}.
 *
 * @param names in lower case, without ports
 */
record HostNames(Set<String> names) {
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");
    private static final Pattern HOST = Pattern.compile("(?<name>\\[[0-9a-f:.]+]|[^:\\[\\]@/]+)(?::[0-9]{1,5})?");

    /** Returns these names and those of the loopback interface. */
    static HostNames loopbackAnd(Set<String> others) {
        return new HostNames(Stream.concat(LOOPBACK.stream(), others.stream().map(HostNames::lowerCase))
                .collect(Collectors.toUnmodifiableSet()));
    }

    /** Returns whether a request names this server, in its only {@code Host} header and, if it has a host, in its address. */
    boolean isNamedBy(HttpCall call) {
        List<String> hosts = call.all("host");
        String authority = call.uri().getRawAuthority();
        return hosts.size() == 1 && contains(hosts.get(0)) && (authority == null || contains(authority));
    }

    /** Returns whether a host, with or without a port, is one of the names. */
    boolean contains(@Nullable String host) {
        Matcher parts = HOST.matcher(host == null ? "" : lowerCase(host));
        return parts.matches() && names.contains(parts.group("name"));
    }

    private static String lowerCase(String host) {
        return host.toLowerCase(Locale.ROOT);
    }
}
