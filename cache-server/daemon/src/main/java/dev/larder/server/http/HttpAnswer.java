package dev.larder.server.http;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * What a client is sent.
 *
 * @param type the media type
 * @param tag the name of this content: a client that has it already is not sent it again; empty for none
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record HttpAnswer(String type, byte[] body, String tag) {
    /** The media type of JSON. */
    public static final String JSON = "application/json";

    /** Returns what changes from question to question. */
    public static HttpAnswer of(String type, byte[] body) {
        return new HttpAnswer(type, body, "");
    }

    /** Returns what is sent only to those who do not have it. */
    public static HttpAnswer tagged(String type, byte[] body) {
        CRC32C crc = new CRC32C();
        crc.update(body);
        return new HttpAnswer(
                type, body, '"' + Integer.toString(body.length, 36) + "-" + Long.toHexString(crc.getValue()) + '"');
    }

    /** Returns a JSON document that is sent only to those who do not have it. */
    public static HttpAnswer json(String document) {
        return tagged(JSON, document.getBytes(StandardCharsets.UTF_8));
    }

    boolean isText() {
        return type.startsWith("text/") || type.startsWith(JSON);
    }
}
