package dev.larder.server.http;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * The content of an answer.
 *
 * @param type the media type
 * @param tag identifies this content, so that it is not sent again to a client that has it; empty for none
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record HttpAnswer(String type, byte[] body, String tag) {
    /** The media type of JSON. */
    public static final String JSON = "application/json";

    /** Returns content that changes from request to request. */
    public static HttpAnswer of(String type, byte[] body) {
        return new HttpAnswer(type, body, "");
    }

    /** Returns content that is sent only to clients that do not have it. */
    public static HttpAnswer tagged(String type, byte[] body) {
        CRC32C crc = new CRC32C();
        crc.update(body);
        return new HttpAnswer(
                type, body, '"' + Integer.toString(body.length, 36) + "-" + Long.toHexString(crc.getValue()) + '"');
    }

    /** Returns a JSON document that is sent only to clients that do not have it. */
    public static HttpAnswer json(String document) {
        return tagged(JSON, document.getBytes(StandardCharsets.UTF_8));
    }

    boolean isText() {
        return type.startsWith("text/") || type.startsWith(JSON);
    }
}
