package dev.larder.readers.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.larder.reader.PlaceObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads from a server of https that only a proxy knows: through a tunnel (CONNECT), which asks for a password. */
class TunnelTest {
    private static final byte[] CONTENT = "0123456789".getBytes(StandardCharsets.US_ASCII);
    private static final String HOST = "data.invalid";
    private static final char[] PASSWORD = "changeit".toCharArray();
    private static final String LOGIN = "me:hush42";
    private static final String AUTHORIZATION =
            "Basic " + Base64.getEncoder().encodeToString(LOGIN.getBytes(StandardCharsets.US_ASCII));

    @TempDir
    Path folder;

    private final SSLSocketFactory before = HttpsURLConnection.getDefaultSSLSocketFactory();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final List<String> heads = new CopyOnWriteArrayList<>();
    private HttpsServer server;
    private ServerSocket proxy;

    @BeforeEach
    void start() throws Exception {
        SSLContext context = context();
        HttpsURLConnection.setDefaultSSLSocketFactory(context.getSocketFactory());
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            try (exchange) {
                asked.add(exchange.getRequestURI() + " "
                        + exchange.getRequestHeaders().getFirst("Range") + " "
                        + exchange.getRequestHeaders().getFirst("Proxy-Authorization"));
                exchange.sendResponseHeaders(200, CONTENT.length);
                exchange.getResponseBody().write(CONTENT);
            }
        });
        server.start();
        proxy = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        threads.execute(this::accept);
    }

    @AfterEach
    void stop() throws IOException {
        HttpsURLConnection.setDefaultSSLSocketFactory(before);
        proxy.close();
        server.stop(0);
        threads.shutdownNow();
    }

    /** Makes a certificate for the host, which both sides have. */
    private SSLContext context() throws Exception {
        Path keys = folder.resolve("keys.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "a",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=" + HOST,
                        "-ext",
                        "san=dns:" + HOST,
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        keys.toString(),
                        "-storepass",
                        String.valueOf(PASSWORD))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("said").toFile())
                .start();
        assertThat(keytool.waitFor(1, TimeUnit.MINUTES)).isTrue();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keys)) {
            store.load(in, PASSWORD);
        }
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(store, PASSWORD);
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        KeyStore known = KeyStore.getInstance("PKCS12");
        known.load(null, null);
        known.setCertificateEntry("a", store.getCertificate("a"));
        trusted.init(known);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        return context;
    }

    private void accept() {
        try {
            while (true) {
                Socket client = proxy.accept();
                threads.execute(() -> tunnel(client));
            }
        } catch (IOException closed) {
            return;
        }
    }

    private void tunnel(Socket client) {
        try (client) {
            String head = head(client.getInputStream());
            heads.add(head);
            if (!head.contains(AUTHORIZATION)) {
                answer(
                        client,
                        "407 Who",
                        "Proxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n");
                return;
            }
            try (Socket upstream = new Socket(
                    InetAddress.getLoopbackAddress(), server.getAddress().getPort())) {
                answer(client, "200 Connected", "");
                threads.execute(() -> copy(client, upstream));
                copy(upstream, client);
            }
        } catch (IOException gone) {
            return;
        }
    }

    private static void answer(Socket client, String status, String headers) throws IOException {
        client.getOutputStream()
                .write(("HTTP/1.1 " + status + "\r\n" + headers + "\r\n").getBytes(StandardCharsets.US_ASCII));
    }

    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        for (int value = in.read(); value >= 0; value = in.read()) {
            head.append((char) value);
            if (value == '\n' && head.toString().endsWith("\r\n\r\n")) {
                break;
            }
        }
        return head.toString();
    }

    private static void copy(Socket from, Socket to) {
        try {
            from.getInputStream().transferTo(to.getOutputStream());
            to.shutdownOutput();
        } catch (IOException gone) {
            return;
        }
    }

    @Test
    void aServerBehindAProxyIsReadThroughATunnel() throws IOException {
        String named = "http://" + LOGIN + "@127.0.0.1:" + proxy.getLocalPort();
        HttpReader reader = new HttpReader(new Exchange(Map.of("https_proxy", named)));
        List<PlaceObject> found = new ArrayList<>();

        reader.list("https://" + HOST + "/x.npy", 1, found::add);
        byte[] content;
        try (InputStream in = reader.open(found.get(0), 0, CONTENT.length)) {
            content = in.readNBytes(CONTENT.length);
        }

        assertThat(content).isEqualTo(CONTENT);
        assertThat(heads).allMatch(head -> head.startsWith("CONNECT " + HOST + ":443 HTTP/1.1\r\n"));
        assertThat(asked).hasSize(2).allMatch(line -> line.startsWith("/x.npy ") && line.endsWith(" null"));
    }
}
