package dev.larder.readers.http;

import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.URI;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;

/** Finds the proxy for a server as curl does: by {@code http_proxy}, {@code https_proxy} and {@code no_proxy}. */
final class Proxies {
    private static final int DEFAULT_PORT = 1080;

    private final Map<String, String> environment;

    Proxies(Map<String, String> environment) {
        this.environment = Map.copyOf(environment);
    }

    static Proxies ofEnvironment() {
        return new Proxies(System.getenv());
    }

    Proxy of(URI address) {
        String named = variable(address.getScheme() + "_proxy");
        if (named.isEmpty() || isExempt(address.getHost())) {
            return Proxy.NO_PROXY;
        }
        URI proxy = URI.create(named.contains("://") ? named : "http://" + named);
        return proxy.getHost() == null
                ? Proxy.NO_PROXY
                : new Proxy(
                        Proxy.Type.HTTP,
                        new InetSocketAddress(proxy.getHost(), proxy.getPort() < 0 ? DEFAULT_PORT : proxy.getPort()));
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
