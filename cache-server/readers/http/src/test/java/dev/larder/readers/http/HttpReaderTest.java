package dev.larder.readers.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.larder.reader.BadSource;
import dev.larder.reader.PlaceObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Asks servers and proxies of this process, which answer in unusual ways. */
class HttpReaderTest {
    private static final byte[] CONTENT = "0123456789".getBytes(StandardCharsets.US_ASCII);

    @TempDir
    Path home;

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private HttpServer server;
    private volatile Answerer answerer = HttpReaderTest::send;

    private interface Answerer {
        void answer(HttpExchange exchange) throws IOException;
    }

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            try (exchange) {
                asked.add(exchange.getRequestURI() + " "
                        + exchange.getRequestHeaders().getFirst("Authorization"));
                answerer.answer(exchange);
            }
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        threads.shutdownNow();
    }

    private String address(String host, String path) {
        return "http://" + host + ":" + server.getAddress().getPort() + path;
    }

    private String address(String path) {
        return address("127.0.0.1", path);
    }

    private static HttpReader reader(Map<String, String> environment) {
        return new HttpReader(new Exchange(environment, 300));
    }

    private static String basic(String login) {
        return "Basic " + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8));
    }

    /** Sends what is asked for, with all that a good server says of it. */
    private static void send(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().add("ETag", "\"one\"");
        sendRange(exchange);
    }

    private static void sendRange(HttpExchange exchange) throws IOException {
        String range = exchange.getRequestHeaders().getFirst("Range");
        if (range == null) {
            exchange.sendResponseHeaders(200, CONTENT.length);
            exchange.getResponseBody().write(CONTENT);
            return;
        }
        String[] bounds = range.substring("bytes=".length()).split("-", 2);
        int from = Integer.parseInt(bounds[0]);
        int end = Integer.parseInt(bounds[1]) + 1;
        exchange.getResponseHeaders().add("Content-Range", "bytes " + from + "-" + (end - 1) + "/" + CONTENT.length);
        exchange.sendResponseHeaders(206, end - from);
        exchange.getResponseBody().write(CONTENT, from, end - from);
    }

    private static void redirect(HttpExchange exchange, String to) throws IOException {
        exchange.getResponseHeaders().add("Location", to);
        exchange.sendResponseHeaders(302, -1);
    }

    private static void sendText(HttpExchange exchange, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", type);
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    private static List<PlaceObject> list(HttpReader reader, String address) throws IOException {
        Map<String, PlaceObject> found = new ConcurrentSkipListMap<>();
        reader.list(address, 4, object -> found.put(object.name(), object));
        return List.copyOf(found.values());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "machine other login x password y | machine HOST login me password p; me:p",
                "machine HOST password p account a login me; me:p",
                "# machine HOST login no password no | machine HOST login me password #p # of mine; me:#p",
                "machine HOST login me password machine; me:machine",
                "default login any password p; any:p",
                "machine HOST login me password p default login any password q; me:p",
                "machine HOST login me; ",
            })
    void aNetrcFileIsReadAsOthersReadIt(String netrc, String login) throws IOException {
        Path file = home.resolve("logins");
        Files.writeString(file, netrc.replace("HOST", "127.0.0.1").replace(" | ", "\n"));

        list(reader(Map.of("NETRC", file.toString())), address("/x.npy"));

        assertThat(asked).containsExactly("/x.npy " + (login == null ? "null" : basic(login)));
    }

    @Test
    void whatIsMeantForAServerGoesToNoOtherThatItLeadsTo() throws IOException {
        answerer = exchange -> {
            if (exchange.getRequestURI().getPath().startsWith("/moved/")) {
                redirect(exchange, address("localhost", "/there.npy"));
            } else {
                send(exchange);
            }
        };
        Files.writeString(home.resolve(".netrc"), "default login any password p\n");
        list(reader(Map.of("HOME", home.toString())), address("/moved/x.npy"));
        list(
                reader(Map.of("LARDER_HTTP_HEADER", "127.0.0.1 Authorization: Bearer k", "HOME", "/none")),
                address("/moved/x.npy"));
        list(reader(Map.of("HOME", "/none")), address("me:p@127.0.0.1", "/moved/x.npy"));
        assertThat(asked)
                .containsExactly(
                        "/moved/x.npy " + basic("any:p"),
                        "/there.npy null",
                        "/moved/x.npy Bearer k",
                        "/there.npy null",
                        "/moved/x.npy " + basic("me:p"),
                        "/there.npy null");

        asked.clear();
        Files.writeString(home.resolve(".netrc"), "machine localhost login me password p\n");
        list(reader(Map.of("HOME", home.toString())), address("/moved/x.npy"));
        assertThat(asked).containsExactly("/moved/x.npy null", "/there.npy " + basic("me:p"));
    }

    @Test
    void aHeaderOfTheEnvironmentIsSentToItsHost() throws IOException {
        String header = "127.0.0.1 Authorization: Bearer hush42";
        list(reader(Map.of("LARDER_HTTP_HEADER", header)), address("/x.npy"));
        assertThat(asked).containsExactly("/x.npy Bearer hush42");

        for (String bad : List.of(header + "\nX: y", "Authorization: Bearer hush42", "127.0.0.1 B\u00fc: hush42")) {
            assertThatThrownBy(() -> list(reader(Map.of("LARDER_HTTP_HEADER", bad)), address("/x.npy")))
                    .isInstanceOf(BadSource.class)
                    .hasMessageContaining("$LARDER_HTTP_HEADER is malformed")
                    .hasMessageNotContaining("hush42");
        }
    }

    @Test
    void proxiesAreAskedAsTheEnvironmentSays() throws IOException {
        answerer = exchange -> {
            asked.add("proxy " + exchange.getRequestHeaders().getFirst("Proxy-Authorization"));
            if (exchange.getRequestHeaders().containsKey("Proxy-Authorization")) {
                send(exchange);
            } else {
                exchange.getResponseHeaders().add("Proxy-Authenticate", "Basic realm=\"x\"");
                exchange.sendResponseHeaders(407, -1);
            }
        };
        String proxy = address("me:hush42@127.0.0.1", "");

        assertThat(list(reader(Map.of("http_proxy", proxy)), "http://data.invalid/x.npy"))
                .singleElement()
                .satisfies(object -> assertThat(object.byteSize()).isEqualTo(CONTENT.length));
        assertThat(asked).contains("http://data.invalid/x.npy null", "proxy " + basic("me:hush42"));
        assertThatThrownBy(() -> list(reader(Map.of("HTTP_PROXY", address(""))), "http://data.invalid/x.npy"))
                .hasMessageContaining("status=407");

        asked.clear();
        answerer = HttpReaderTest::send;
        list(reader(Map.of("http_proxy", proxy, "no_proxy", "example.org, .0.0.1")), address("/x.npy"));
        assertThat(asked).containsExactly("/x.npy null");
        for (String bad : List.of("http://me:hush42%zz@127.0.0.1:1", "socks5://me:hush42@127.0.0.1:1", "me:hush42@")) {
            assertThatThrownBy(() -> list(reader(Map.of("http_proxy", bad)), address("/x.npy")))
                    .isInstanceOf(BadSource.class)
                    .hasMessageContaining("$http_proxy is malformed")
                    .hasMessageNotContaining("hush42");
        }
    }

    @Test
    void aConnectionThatSendsNothingMoreIsGivenUp() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 4, InetAddress.getLoopbackAddress())) {
            threads.execute(() -> {
                try {
                    Socket client = silent.accept();
                    OutputStream out = client.getOutputStream();
                    out.write("HTTP/1.1 200 OK\r\nETag: \"one\"\r\nContent-Length: 10\r\n\r\n01234"
                            .getBytes(StandardCharsets.US_ASCII));
                    out.flush();
                    client.getInputStream().readAllBytes(); // until it is given up
                } catch (IOException e) {
                    return;
                }
            });
            String address = "http://127.0.0.1:" + silent.getLocalPort() + "/x.npy";
            PlaceObject object = new PlaceObject(address, "x.npy", true, 10, 0, "\"one\"", false);
            try (InputStream in = reader(Map.of()).open(object, 0, 10)) {
                assertThat(in.readNBytes(5)).hasSize(5);
                assertThatThrownBy(in::read).isInstanceOf(SocketTimeoutException.class);
            }
        }
    }

    @Test
    void whatLeadsNowhereIsRefused() {
        answerer = exchange -> redirect(exchange, "/again.npy");
        assertThatThrownBy(() -> list(reader(Map.of()), address("/x.npy")))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("too many redirections");
        assertThat(asked).hasSize(11);
        for (String to : List.of("http://127.0.0.1:99999/x", "file:///etc/passwd", "http:///x", "ht tp://x")) {
            answerer = exchange -> redirect(exchange, to);
            assertThatThrownBy(() -> list(reader(Map.of()), address("/x.npy"))).isInstanceOf(BadSource.class);
        }
        answerer = exchange -> redirect(exchange, exchange.getRequestURI() + "/");
        assertThatThrownBy(() -> list(reader(Map.of()), address("/x")))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("too many redirections");
        answerer = exchange -> {
            if (exchange.getRequestURI().getPath().endsWith("/")) {
                sendText(exchange, "text/html", "<a href=x.npy>x</a>");
            } else {
                redirect(exchange, exchange.getRequestURI() + "/");
            }
        };
        assertThatThrownBy(() -> list(reader(Map.of()), address("/x")))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("it is a folder");
        assertThatThrownBy(() -> Exchange.redirected(URI.create("https://host/x"), "http://host/x"))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("from https to http");
    }

    @Test
    void partsAreTakenOnlyOfWhatCanBeToldFromAnother() throws IOException {
        HttpReader reader = reader(Map.of());
        assertThat(list(reader, address("/x.npy")).get(0).hasRanges()).isTrue();
        answerer = HttpReaderTest::sendRange;
        PlaceObject untold = list(reader, address("/x.npy")).get(0);
        assertThat(untold.hasRanges()).isFalse();
        try (InputStream in = reader.open(untold, 0, 10)) {
            assertThat(in.readAllBytes()).isEqualTo(CONTENT);
        }
    }

    @Test
    void aServerThatSaysLessOfPartsIsAskedForPartsAlone() throws IOException {
        answerer = exchange -> {
            exchange.getResponseHeaders().add("Last-Modified", "Mon, 23 Nov 2026 10:00:00 GMT");
            if (!exchange.getRequestHeaders().containsKey("Range")) {
                exchange.getResponseHeaders().add("ETag", "\"one\"");
            }
            sendRange(exchange);
        };
        HttpReader reader = reader(Map.of());
        try (InputStream in = reader.open(list(reader, address("/x.npy")).get(0), 0, 10)) {
            assertThat(in.readAllBytes()).isEqualTo(CONTENT);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes 4-9/10", "bytes 0-9/11", "bytes 0-9", "nonsense"})
    void anotherRangeThanWasAskedForIsNotTaken(String range) throws IOException {
        HttpReader reader = reader(Map.of());
        PlaceObject object = list(reader, address("/x.npy")).get(0);
        answerer = exchange -> {
            exchange.getResponseHeaders().add("ETag", "\"one\"");
            exchange.getResponseHeaders().add("Content-Range", range);
            exchange.sendResponseHeaders(206, CONTENT.length);
            exchange.getResponseBody().write(CONTENT);
        };
        if (range.equals("bytes 0-9")) {
            reader.open(object, 0, 10).close(); // all that matters is there
            return;
        }
        assertThatThrownBy(() -> reader.open(object, 0, 10)).isInstanceOf(IOException.class);
    }

    @Test
    void whatIsPackedOnTheWayIsRefusedHoweverLate() throws IOException {
        HttpReader reader = reader(Map.of());
        PlaceObject object = list(reader, address("/x.npy")).get(0);
        answerer = exchange -> {
            exchange.getResponseHeaders().add("Content-Encoding", "gzip");
            send(exchange);
        };
        assertThatThrownBy(() -> reader.open(object, 0, 10)).hasMessageContaining("the server compresses it: gzip");
        assertThatThrownBy(() -> list(reader, address("/x.npy")))
                .hasMessageContaining("the server compresses it: gzip");
        assertThat(list(reader, address("/x.npy.gz"))).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/plain", "text/html"})
    void everyFileOfAListingIsFoundWhateverItIsCalled(String type) throws IOException {
        List<String> links = List.of("a[1].npy", "\u00fc b.npy", "50%.npy", "c%20d.npy", "../out.npy", "#top", "?C=N");
        answerer = exchange -> {
            if (exchange.getRequestURI().getPath().equals("/d/")) {
                String page = links.stream()
                        .map(link -> "<a href=\"" + link + "\">x</a>\n")
                        .reduce("", String::concat);
                sendText(exchange, type, type.endsWith("html") ? page : String.join("\n", links));
            } else {
                send(exchange);
            }
        };
        assertThat(list(reader(Map.of()), address("/d/?sig=hush42")).stream().map(PlaceObject::name))
                .containsExactly("50%.npy", "a[1].npy", "c d.npy", "\u00fc b.npy");
        assertThat(asked)
                .contains(
                        "/d/?sig=hush42 null", "/d/a%5B1%5D.npy?sig=hush42 null", "/d/%C3%BC%20b.npy?sig=hush42 null");
    }

    @Test
    void aDeadLinkOfAListingIsNamed() {
        answerer = exchange -> {
            String path = exchange.getRequestURI().getPath();
            if (path.endsWith("/")) {
                String name = path.equals("/d/") ? "below/" : "gone.npy";
                sendText(exchange, "text/html", "<a href='" + name + "'>x</a>");
            } else {
                exchange.sendResponseHeaders(404, -1);
            }
        };
        assertThatThrownBy(() -> list(reader(Map.of()), address("/d/")))
                .isInstanceOf(BadSource.class)
                .hasMessageContaining("below/gone.npy: it is not there: status=404");
    }

    @Test
    void anAddressIsAskedForInAsciiWhateverItsCase() throws IOException {
        list(reader(Map.of()), address("/\u00fc.npy").replace("http", "HTTP"));
        assertThat(asked).containsExactly("/%C3%BC.npy null");
        assertThatThrownBy(() -> list(reader(Map.of()), "http://127.0.0.1:99999/x.npy"))
                .isInstanceOf(BadSource.class);
    }
}
