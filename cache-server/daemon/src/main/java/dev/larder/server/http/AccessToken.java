package dev.larder.server.http;

import com.sun.net.httpserver.HttpExchange;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A secret that is new with every start. */
record AccessToken(String text) {
    static final String PARAMETER = "token=";

    private static final int BYTES = 24;
    private static final String SCHEME = "Bearer ";
    private static final String COOKIE = "larder-";

    static AccessToken random() {
        byte[] bytes = new byte[BYTES];
        new SecureRandom().nextBytes(bytes);
        return new AccessToken(Base64.getUrlEncoder().encodeToString(bytes));
    }

    /** Writes it to a new file that only its owner may read. */
    void writeTo(Path file) {
        try {
            Files.deleteIfExists(file);
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(file, text + "\n");
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot write the token for HTTP")
                    .with("file", file)
                    .with("reason", e)
                    .cause(e)
                    .remedy("check space and permissions of the store");
        }
    }

    /** Removes the file, unless another daemon has taken the store and written its own. */
    void removeFrom(Path file) throws IOException {
        try {
            if (Files.readString(file).strip().equals(text)) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException gone) {
            return;
        }
    }

    /** Tells whether a request names it: in its header, its address or its cookie. Takes the same time for every wrong one. */
    boolean isKnownTo(HttpExchange exchange) {
        String header = exchange.getRequestHeaders().getFirst("Authorization");
        return (header != null && header.startsWith(SCHEME) && matches(header.substring(SCHEME.length())))
                || isInAddressOf(exchange)
                || exchange.getRequestHeaders().getOrDefault("Cookie", List.of()).stream()
                        .flatMap(cookies -> parts(cookies, ";"))
                        .anyMatch(part -> isNamed(part.strip(), cookieName(exchange) + "="));
    }

    /** Tells whether a request names it in its address, where others may come to see it. */
    boolean isInAddressOf(HttpExchange exchange) {
        return parts(exchange.getRequestURI().getRawQuery(), "&").anyMatch(part -> isNamed(part, PARAMETER));
    }

    /**
     * Returns a cookie that ends with the browser's session, that no script reads, and that no other site can have sent. Browsers keep
     * cookies by host alone: the port is part of the name, so that two daemons do not take each other's.
     */
    String cookie(HttpExchange exchange) {
        return cookieName(exchange) + "=" + text + "; Path=/; HttpOnly; SameSite=Strict";
    }

    private static String cookieName(HttpExchange exchange) {
        return COOKIE + exchange.getLocalAddress().getPort();
    }

    private boolean isNamed(String part, String name) {
        return part.startsWith(name) && matches(part.substring(name.length()));
    }

    private static Stream<String> parts(@Nullable String text, String separator) {
        return text == null ? Stream.empty() : Arrays.stream(text.split(separator));
    }

    private boolean matches(String attempt) {
        return MessageDigest.isEqual(
                attempt.strip().getBytes(StandardCharsets.UTF_8), text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return "AccessToken"; // never in a log
    }
}
