package dev.larder.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.server.metrics.Counters;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HttpEndpointTest {
    private static final int MORE_THAN_PLACES = 300;
    private static final Duration LONGEST = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    private HttpEndpoint endpoint;

    @BeforeEach
    void start() {
        Map<String, HttpResource> resources = Map.of(
                "/metrics",
                new Exposition(Counters.unshared(), List::of, List::of),
                "/",
                question -> HttpAnswer.tagged("text/html", "page".getBytes(StandardCharsets.UTF_8)),
                "/echo",
                question ->
                        HttpAnswer.json(("\"" + question.text("name") + "\"").repeat(1 + question.number("n", 0, 999))),
                "/missing",
                question -> {
                    throw Failure.of(ErrorCode.NOT_FOUND, "no such thing").exception();
                });
        endpoint = HttpEndpoint.start(0, Set.of("Metrics.Example"), place(tokenFile()), resources);
    }

    @AfterEach
    void close() {
        endpoint.close();
    }

    private static HttpEndpoint.TokenPlace place(Path ofStore) {
        return new HttpEndpoint.TokenPlace(ofStore, null, null);
    }

    private Path tokenFile() {
        return folder.resolve("http.token");
    }

    private URI without(String path) {
        return URI.create("http://127.0.0.1:" + endpoint.address("/metrics").getPort() + path);
    }

    private HttpURLConnection ask(URI address, String method, String authorization) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
        connection.setRequestMethod(method);
        connection.setReadTimeout(20_000);
        if (!authorization.isEmpty()) {
            connection.setRequestProperty("Authorization", authorization);
        }
        return connection;
    }

    private int status(URI address) throws IOException {
        return ask(address, "GET", "").getResponseCode();
    }

    @Test
    void whoKnowsTheTokenFromTheAddressOrTheFileReadsPrometheusText() throws IOException {
        HttpURLConnection byAddress = ask(endpoint.address("/metrics"), "GET", "");
        String token = Files.readString(tokenFile()).strip();
        HttpURLConnection byHeader = ask(without("/metrics"), "GET", "Bearer " + token);

        assertThat(byAddress.getResponseCode()).isEqualTo(200);
        assertThat(byAddress.getContentType()).startsWith("text/plain; version=0.0.4");
        assertThat(new String(byAddress.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("# TYPE larder_resident_bytes gauge");
        assertThat(byHeader.getResponseCode()).isEqualTo(200);
        assertThat(endpoint.address("/metrics").getHost()).isEqualTo("127.0.0.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/metrics", "/metrics?token=", "/metrics?token=x", "/", "/metrics/../data?nottoken=1"})
    void withoutTheTokenNothingIsTold(String path) throws IOException {
        HttpURLConnection refused = ask(without(path), "GET", "Bearer wrong");

        assertThat(refused.getResponseCode()).isEqualTo(401);
        assertThat(refused.getHeaderField("WWW-Authenticate")).isEqualTo("Bearer");
        assertThat(new String(refused.getErrorStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("Authorization: Bearer TOKEN", tokenFile().toString())
                .doesNotContain(Files.readString(tokenFile()).strip(), "larder_");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "LOCALHOST:PORT",
                "127.0.0.1",
                "127.0.0.1:PORT",
                "127.0.0.1:9999",
                "[::1]:PORT",
                "metrics.example",
                "METRICS.example:80"
            })
    void namesOfThisServerAreAnswered(String host) throws IOException {
        assertThat(raw("GET " + pathWithToken() + " HTTP/1.1\r\nHost: " + host + "\r\n"))
                .contains(" 200 ");
        assertThat(raw("GET /metrics HTTP/1.1\r\nHost: " + host + "\r\n")).contains(" 401 ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil.example",
                "evil.example:PORT",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
                "127.0.0.1@evil.example",
                "[::2]:PORT",
                "[::1",
                "0.0.0.0:PORT",
                "localhost:PORT:PORT",
                ""
            })
    void anotherNameIsRefusedWithAndWithoutTheToken(String host) throws IOException {
        assertThat(raw("GET " + pathWithToken() + " HTTP/1.1\r\nHost: " + host + "\r\n"))
                .contains(" 421 ");
        assertThat(raw("GET /metrics HTTP/1.1\r\nHost: " + host + "\r\n")).contains(" 421 ");
    }

    @Test
    void theAddressOfARequestCountsAsMuchAsItsHost() throws IOException {
        String ours = "Host: localhost\r\n";

        assertThat(raw("GET http://evil.example" + pathWithToken() + " HTTP/1.1\r\n" + ours))
                .contains(" 421 ");
        assertThat(raw("GET http://localhost" + pathWithToken() + " HTTP/1.1\r\n" + ours))
                .contains(" 200 ");
        assertThat(raw("GET " + pathWithToken() + " HTTP/1.1\r\n" + ours + "Host: evil.example\r\n"))
                .contains(" 421 ");
        assertThat(raw("GET " + pathWithToken() + " HTTP/1.0\r\n")).contains(" 421 ");
    }

    private String pathWithToken() {
        return "/metrics?" + endpoint.address("/metrics").getRawQuery();
    }

    /** Returns the first line of the answer. */
    private String raw(String head) throws IOException {
        int port = endpoint.address("/metrics").getPort();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            String request = head.replace("PORT", Integer.toString(port)) + "\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            InputStreamReader answer = new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1);
            return String.valueOf(new BufferedReader(answer).readLine());
        }
    }

    @Test
    void onlyOnePathAndOnlyReadingIsOffered() throws IOException {
        String query = endpoint.address("/metrics").getRawQuery();

        assertThat(status(without("/data?" + query))).isEqualTo(404);
        for (String method : List.of("POST", "PUT", "DELETE", "OPTIONS", "TRACE")) {
            HttpURLConnection refused = ask(endpoint.address("/metrics"), method, "");
            assertThat(refused.getResponseCode()).as(method).isEqualTo(405);
            assertThat(refused.getHeaderField("Allow")).isEqualTo("GET, HEAD");
        }
    }

    @Test
    void thePageTakesTheTokenOutOfItsAddressAndKeepsItInACookieForItself() throws IOException {
        HttpURLConnection first = ask(endpoint.address("/"), "GET", "");
        first.setInstanceFollowRedirects(false);
        assertThat(first.getResponseCode()).isEqualTo(303);
        assertThat(first.getHeaderField("Location")).isEqualTo("/");
        String cookie = first.getHeaderField("Set-Cookie");
        int port = endpoint.address("/").getPort();
        assertThat(cookie).startsWith("larder-" + port + "=").endsWith("; Path=/; HttpOnly; SameSite=Strict");

        String named = cookie.substring(0, cookie.indexOf(';'));
        String host = "Host: localhost\r\n";
        assertThat(raw("GET / HTTP/1.1\r\n" + host + "Cookie: a=b; " + named + "\r\n"))
                .contains(" 200 ");
        assertThat(raw("GET /metrics HTTP/1.1\r\n" + host + "Cookie: " + named + "\r\n"))
                .contains(" 200 ");
        assertThat(raw("GET / HTTP/1.1\r\n" + host + "Cookie: " + named + "x\r\n"))
                .contains(" 401 ");
        assertThat(raw("GET / HTTP/1.1\r\n" + host + "Cookie: larder-1=" + named.substring(named.indexOf('=') + 1)
                        + "\r\n"))
                .contains(" 401 ");
        assertThat(raw("GET / HTTP/1.1\r\nHost: evil.example\r\nCookie: " + named + "\r\n"))
                .contains(" 421 ");
    }

    @Test
    void everyAnswerTellsBrowsersToTrustNothingElse() throws IOException {
        for (URI address : List.of(endpoint.address("/metrics"), endpoint.address("/nowhere"), without("/"))) {
            HttpURLConnection answer = ask(address, "GET", "");
            assertThat(answer.getHeaderField("Content-Security-Policy"))
                    .startsWith("default-src 'self';")
                    .contains("frame-ancestors 'none'")
                    .doesNotContain("unsafe");
            assertThat(answer.getHeaderField("X-Content-Type-Options")).isEqualTo("nosniff");
            assertThat(answer.getHeaderField("Referrer-Policy")).isEqualTo("no-referrer");
            assertThat(answer.getHeaderField("Access-Control-Allow-Origin")).isNull();
        }
    }

    @Test
    void whatAClientHasAlreadyIsNotSentAgainAndHeadSendsNoBody() throws IOException {
        URI address = URI.create(endpoint.address("/echo") + "&name=a%26b");
        HttpURLConnection first = ask(address, "GET", "");
        assertThat(new String(first.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEqualTo("\"a&b\"");

        HttpURLConnection again = ask(address, "GET", "");
        again.setRequestProperty("If-None-Match", first.getHeaderField("ETag"));
        HttpURLConnection head = ask(address, "HEAD", "");

        assertThat(again.getResponseCode()).isEqualTo(304);
        assertThat(head.getResponseCode()).isEqualTo(200);
        assertThat(head.getHeaderField("ETag")).isEqualTo(first.getHeaderField("ETag"));
        assertThat(head.getContentLength()).isEqualTo(5);
    }

    @Test
    void longTextsAreZippedForThoseWhoTakeIt() throws IOException {
        HttpURLConnection zipped = ask(URI.create(endpoint.address("/echo") + "&name=x&n=999"), "GET", "");
        zipped.setRequestProperty("Accept-Encoding", "br, gzip");

        byte[] body = new GZIPInputStream(zipped.getInputStream()).readAllBytes();

        assertThat(zipped.getHeaderField("Content-Encoding")).isEqualTo("gzip");
        assertThat(new String(body, StandardCharsets.UTF_8)).isEqualTo("\"x\"".repeat(1_000));
    }

    @Test
    void whatAResourceRefusesIsToldWithItsMessage() throws IOException {
        HttpURLConnection refused = ask(endpoint.address("/missing"), "GET", "");

        assertThat(refused.getResponseCode()).isEqualTo(404);
        assertThat(refused.getContentType()).startsWith("text/plain");
        assertThat(new String(refused.getErrorStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("no such thing");
    }

    @Test
    void theTokenIsNewWithEveryStartAndOnlyItsOwnerReadsTheFile() throws IOException {
        String before = Files.readString(tokenFile());
        assertThat(Files.getPosixFilePermissions(tokenFile())).isEqualTo(PosixFilePermissions.fromString("rw-------"));

        endpoint.close();
        assertThat(tokenFile()).doesNotExist();
        start();

        assertThat(Files.readString(tokenFile())).isNotEqualTo(before).hasSizeGreaterThan(30);
    }

    @Test
    void theTokenOfADaemonThatHasTakenTheStoreStays() throws IOException {
        Files.writeString(tokenFile(), "another");

        endpoint.close();

        assertThat(tokenFile()).hasContent("another");
    }

    @Test
    void aPortThatIsTakenIsRefusedWithTheRemedy() {
        int taken = endpoint.address("/metrics").getPort();

        assertThatThrownBy(() -> HttpEndpoint.start(taken, Set.of(), place(folder.resolve("other")), Map.of()))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                .hasMessageContainingAll("port=" + taken, "--http 0");
        assertThat(folder.resolve("other")).doesNotExist();
    }

    @Test
    void thePortIsFreeAgainAfterTheEndAndClosingTwiceIsFine() {
        URI address = endpoint.address("/metrics");
        endpoint.close();

        assertThatCode(endpoint::close).doesNotThrowAnyException();
        assertThatThrownBy(() -> status(address)).isInstanceOf(IOException.class);
        assertThatCode(() -> HttpEndpoint.start(address.getPort(), Set.of(), place(tokenFile()), Map.of())
                        .close())
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\u0000\u0001rubbish\r\n", "GET ", "GET /metrics HTTP/1.1\r\nHost: x\r\nX: "})
    void clientsThatDoNotFinishTheirRequestHoldNobodyUpHoweverOftenTheyComeBack(String beginning) throws Exception {
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicInteger reconnects = new AtomicInteger();
        Thread strangers = new Thread(() -> drip(beginning, isOver, reconnects));
        strangers.start();
        try {
            await().atMost(LONGEST).until(() -> reconnects.get() > MORE_THAN_PLACES);

            for (int i = 0; i < 20; i++) {
                assertThat(status(endpoint.address("/metrics"))).isEqualTo(200);
            }
            assertThat(endpointThreads()).isLessThanOrEqualTo(2);
        } finally {
            isOver.set(true);
            strangers.join(LONGEST.toMillis());
        }
    }

    /** Keeps more connections than there are places, sends a byte on each now and then, and replaces each that is closed. */
    private void drip(String beginning, AtomicBoolean isOver, AtomicInteger connects) {
        Deque<Socket> open = new ArrayDeque<>();
        while (!isOver.get()) {
            try {
                Socket socket = open.size() < MORE_THAN_PLACES
                        ? new Socket(
                                InetAddress.getLoopbackAddress(),
                                endpoint.address().getPort())
                        : open.removeFirst();
                open.addLast(socket);
                socket.getOutputStream()
                        .write((connects.get() < MORE_THAN_PLACES ? beginning + "a" : "a")
                                .getBytes(StandardCharsets.ISO_8859_1));
                connects.incrementAndGet();
            } catch (IOException dropped) {
                closeQuietly(open.pollLast());
            }
        }
        open.forEach(HttpEndpointTest::closeQuietly);
    }

    private static void closeQuietly(@Nullable Socket socket) {
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aClientThatSendsNothingIsDroppedInTime() throws IOException {
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), endpoint.address().getPort())) {
            socket.setSoTimeout((int) LONGEST.toMillis());
            socket.getOutputStream().write('G');

            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @CsvSource({"X: a,40000,431", "X: a,60,200", "X : b,0,400", " folded,0,400", "nothing,0,400"})
    void malformedAndLongRequestsAreRefused(String header, int length, int status) throws IOException {
        String host = "Host: localhost\r\n";

        assertThat(raw("GET " + pathWithToken() + " HTTP/1.1\r\n" + host + header + "a".repeat(length) + "\r\n"))
                .contains(" " + status + " ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "GET",
                "GET /metrics",
                "GET /metrics HTTP/2.0",
                "G{T / HTTP/1.1",
                "GET /m etrics HTTP/1.1",
                "GET /%zz HTTP/1.1"
            })
    void whatIsNoRequestIsRefused(String line) throws IOException {
        assertThat(raw(line + "\r\nHost: localhost\r\n")).contains(" 400 ");
        assertThat(raw("GET " + pathWithToken() + " HTTP/1.1\r\nHost: localhost\r\n" + "X: y\r\n".repeat(100)))
                .contains(" 400 ");
    }

    @Test
    void aHeaderOfManySpacesHoldsNobodyUp() throws IOException {
        String spaces = "X:" + " ".repeat(16_000) + "\n\r\n";

        assertThat(raw("GET / HTTP/1.1\r\nHost: localhost\r\n" + spaces)).contains(" 400 ");
        assertThat(status(endpoint.address("/metrics"))).isEqualTo(200);
    }

    @Test
    void aRequestThatComesByteByByteIsAnswered() throws IOException {
        String request = "GET " + pathWithToken() + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), endpoint.address().getPort())) {
            socket.setTcpNoDelay(true);
            for (byte next : request.getBytes(StandardCharsets.ISO_8859_1)) {
                socket.getOutputStream().write(next);
            }

            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(answer).startsWith("HTTP/1.1 200 OK\r\n").contains("\r\nConnection: close\r\n");
        }
    }

    private static long endpointThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("larder-http-"))
                .count();
    }
}
