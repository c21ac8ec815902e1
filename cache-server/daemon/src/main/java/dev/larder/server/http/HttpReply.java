package dev.larder.server.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.Map;

/**
 * An encoded answer. Every answer, refusals included, has the headers that protect a browser.
 *
 * @param headers all but {@code Date}, {@code Connection} and {@code Content-Length}
 * @param body empty for none
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record HttpReply(int status, Map<String, String> headers, byte[] body) {
    static final int NOT_MODIFIED = 304;

    /**
     * A page may load scripts, styles and pictures only from this server, is not shown in a frame, and sends its address to no other site.
     */
    private static final Map<String, String> GUARDS = Map.of(
            "Content-Security-Policy",
            "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options",
            "nosniff",
            "Referrer-Policy",
            "no-referrer",
            "Cross-Origin-Resource-Policy",
            "same-origin",
            "Cache-Control",
            "no-store");

    private static final Map<Integer, String> REASONS = Map.ofEntries(
            Map.entry(200, "OK"),
            Map.entry(303, "See Other"),
            Map.entry(NOT_MODIFIED, "Not Modified"),
            Map.entry(400, "Bad Request"),
            Map.entry(401, "Unauthorized"),
            Map.entry(404, "Not Found"),
            Map.entry(405, "Method Not Allowed"),
            Map.entry(421, "Misdirected Request"),
            Map.entry(431, "Request Header Fields Too Large"),
            Map.entry(500, "Internal Server Error"),
            Map.entry(503, "Service Unavailable"));

    HttpReply {
        Map<String, String> all = new HashMap<>(GUARDS);
        all.putAll(headers);
        headers = Map.copyOf(all);
    }

    /** Returns a refusal in one line of text. */
    static HttpReply refusal(int status, Map<String, String> headers, String text) {
        Map<String, String> all = new HashMap<>(headers);
        all.put("Content-Type", "text/plain; charset=utf-8");
        return new HttpReply(status, all, (text + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the bytes to send; without the body for the answer to HEAD. */
    ByteBuffer encode(boolean withBody) {
        StringBuilder head = new StringBuilder("HTTP/1.1 ")
                .append(status)
                .append(' ')
                .append(REASONS.getOrDefault(status, "Other"))
                .append("\r\nDate: ")
                .append(DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC)))
                .append("\r\nConnection: close\r\n");
        headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        if (status != NOT_MODIFIED) {
            head.append("Content-Length: ").append(body.length).append("\r\n");
        }
        byte[] start = head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
        ByteBuffer all = ByteBuffer.allocate(start.length + body.length).put(start);
        return (withBody ? all.put(body) : all).flip();
    }
}
