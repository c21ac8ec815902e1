package dev.larder.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpReplyTest {
    @ParameterizedTest
    @ValueSource(ints = {200, 400, 431, 503})
    void everyAnswerHasTheHeadersThatProtectABrowser(int status) {
        HttpReply reply = HttpReply.refusal(status, Map.of("X", "y"), "text");

        String sent = StandardCharsets.ISO_8859_1.decode(reply.encode(true)).toString();

        assertThat(sent)
                .startsWith("HTTP/1.1 " + status + " ")
                .contains(
                        "\r\nContent-Security-Policy: default-src 'self'; ",
                        "\r\nX-Content-Type-Options: nosniff\r\n",
                        "\r\nReferrer-Policy: no-referrer\r\n",
                        "\r\nCross-Origin-Resource-Policy: same-origin\r\n",
                        "\r\nCache-Control: no-store\r\n",
                        "\r\nX: y\r\n");
    }
}
