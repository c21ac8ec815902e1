package dev.larder.readers.http;

import dev.larder.reader.BadSource;
import java.net.Authenticator;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.Proxy;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds the proxy for a server as curl does: by {@code http_proxy}, {@code https_proxy} and {@code no_proxy}. */
final class Proxies {
    private static final int DEFAULT_PORT = 1080;

    private final Map<String, String> environment;

    /** A proxy, and the authenticator that answers only it. */
    record Found(Proxy proxy, Optional<Authenticator> authenticator) {}

    Proxies(Map<String, String> environment) {
        this.environment = Map.copyOf(environment);
    }

    Found of(URI address) throws BadSource {
        String variable = address.getScheme() + "_proxy";
        String named = variable(variable);
        if (named.isEmpty() || isExempt(address.getHost())) {
            return new Found(Proxy.NO_PROXY, Optional.empty());
        }
        try {
            URI proxy = new URI(named.contains("://") ? named : "http://" + named);
            if ("http".equalsIgnoreCase(proxy.getScheme()) && proxy.getHost() != null) {
                return new Found(
                        new Proxy(
                                Proxy.Type.HTTP,
                                new InetSocketAddress(
                                        proxy.getHost(), proxy.getPort() < 0 ? DEFAULT_PORT : proxy.getPort())),
                        Optional.ofNullable(proxy.getUserInfo()).map(Proxies::answering));
            }
        } catch (URISyntaxException | IllegalArgumentException e) {
            // the message below omits the value, which may contain a password
        }
        throw HttpReader.bad(
                "$" + variable + " is malformed",
                "give the daemon http://HOST:PORT or http://USER:PASSWORD@HOST:PORT there; other kinds of proxies are not supported");
    }

    private static Authenticator answering(String userInfo) {
        int colon = userInfo.indexOf(':');
        String user = colon < 0 ? userInfo : userInfo.substring(0, colon);
        String password = colon < 0 ? "" : userInfo.substring(colon + 1);
        return new Authenticator() {
            @Override
            protected @Nullable PasswordAuthentication getPasswordAuthentication() {
                return getRequestorType() == RequestorType.PROXY
                        ? new PasswordAuthentication(user, password.toCharArray())
                        : null;
            }
        };
    }

    private boolean isExempt(String host) {
        return Arrays.stream(variable("no_proxy").split("[,\\s]+"))
                .map(entry -> entry.startsWith(".") ? entry.substring(1) : entry)
                .anyMatch(entry ->
                        entry.equals("*") || (!entry.isEmpty() && (host.equals(entry) || host.endsWith("." + entry))));
    }

    private String variable(String name) {
        String value = environment.get(name);
        return value == null ? environment.getOrDefault(name.toUpperCase(Locale.ROOT), "") : value;
    }
}
