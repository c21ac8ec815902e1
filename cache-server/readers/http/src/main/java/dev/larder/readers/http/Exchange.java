package dev.larder.readers.http;

import dev.larder.reader.BadSource;
import dev.larder.reader.TemporaryFailure;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.Map;
import java.util.Set;

/** Sends requests with credentials and timeouts. Redirections take no credentials to another server. Thread-safe. */
final class Exchange {
    private static final int CONNECT_MS = 10_000;
    private static final int SILENCE_MS = 15_000;
    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;
    private static final int MOST_READ_TO_END = 64 << 10;
    private static final int MOST_REDIRECTIONS = 10;
    private static final Set<Integer> REDIRECTIONS = Set.of(301, 302, 303, 307, 308);
    private static final Set<Integer> TEMPORARY = Set.of(408, 425, 429, 500, 502, 503, 504);
    private static final Set<Integer> FORBIDDEN = Set.of(401, 403, 407);
    private static final Set<Integer> ABSENT = Set.of(404, 410);

    private final HttpCredentials credentials;
    private final Proxies proxies;
    private final int silenceMs;

    Exchange(Map<String, String> environment) {
        this(environment, SILENCE_MS);
    }

    /** {@code silenceMs} is the longest pause of a server. */
    Exchange(Map<String, String> environment, int silenceMs) {
        this.credentials = new HttpCredentials(environment);
        this.proxies = new Proxies(environment);
        this.silenceMs = silenceMs;
    }

    /** Prepares a request. */
    interface Preparation {
        /** Adds headers. */
        void prepare(HttpURLConnection connection);
    }

    /**
     * The answer to a request. The caller closes it.
     *
     * @param tried the source of the credentials that were sent
     */
    record Answer(HttpURLConnection connection, int status, String tried) implements AutoCloseable {
        /** Returns the content; closing it closes the answer. */
        Content stream() throws IOException {
            return new Content(connection);
        }

        /** Fails unless there is a file. The message does not contain the address, which may have secrets. */
        void requireOk() throws IOException {
            if (status == HttpURLConnection.HTTP_OK) {
                return;
            } else if (TEMPORARY.contains(status)) {
                throw new TemporaryFailure("status " + status, waitMs());
            } else if (FORBIDDEN.contains(status)) {
                throw HttpReader.bad(
                        "the server refuses: status=" + status + " credentials=" + tried,
                        "give credentials in ~/.netrc or $LARDER_HTTP_HEADER of the daemon, or correct them");
            } else if (ABSENT.contains(status)) {
                throw HttpReader.bad(
                        "it is not there: status=" + status + " credentials=" + tried,
                        "check the address; some servers also answer this if credentials are missing");
            }
            throw HttpReader.bad(
                    "the server answers with status " + status + " credentials=" + tried,
                    "check the address with another program, such as curl -I");
        }

        private long waitMs() {
            return Math.max(0, connection.getHeaderFieldInt("Retry-After", 0)) * 1000L;
        }

        /** Reads a short rest, so that the connection can be reused. */
        @Override
        public void close() {
            try (InputStream left = status < 400 ? stream() : connection.getErrorStream()) {
                if (left != null && connection.getContentLengthLong() <= MOST_READ_TO_END) {
                    left.readNBytes(MOST_READ_TO_END);
                }
            } catch (IOException e) {
                connection.disconnect();
            }
        }
    }

    /** Requests an address, and follows redirections. */
    Answer get(String address, Preparation preparation) throws IOException {
        URI at = Address.requested(address);
        HttpCredentials.Found found = credentials.of(at, Address.userInfo(address));
        for (int step = 0; step <= MOST_REDIRECTIONS; step++) {
            HttpURLConnection connection = open(at, found, preparation);
            int status = connection.getResponseCode();
            String next = REDIRECTIONS.contains(status) ? connection.getHeaderField("Location") : null;
            if (next == null) {
                return new Answer(connection, status, found.source());
            }
            connection.disconnect();
            URI to = redirected(at, next);
            if (!isSameServer(at, to)) {
                found = credentials.ofRedirected(to);
            }
            at = to;
        }
        throw HttpReader.bad("it has too many redirections", "give the final address");
    }

    static URI redirected(URI at, String next) throws BadSource {
        URI to;
        try {
            to = Address.requested(at.resolve(next.replace(" ", "%20")).toString());
        } catch (IllegalArgumentException e) {
            throw HttpReader.bad(
                    "the server redirects to a malformed address", "report this to the owner of the server");
        }
        if ("https".equals(at.getScheme()) && !"https".equals(to.getScheme())) {
            throw HttpReader.bad(
                    "the server redirects from https to http: host=" + to.getHost(),
                    "give an address that stays with https");
        }
        return to;
    }

    private static boolean isSameServer(URI one, URI other) {
        return one.getHost().equalsIgnoreCase(other.getHost())
                && port(one) == port(other)
                && one.getScheme().equals(other.getScheme());
    }

    private static int port(URI address) {
        return address.getPort() >= 0
                ? address.getPort()
                : "https".equals(address.getScheme()) ? HTTPS_PORT : HTTP_PORT;
    }

    private HttpURLConnection open(URI at, HttpCredentials.Found found, Preparation preparation) throws IOException {
        Proxies.Found proxy = proxies.of(at);
        HttpURLConnection connection = (HttpURLConnection) at.toURL().openConnection(proxy.proxy());
        proxy.authenticator().ifPresent(connection::setAuthenticator);
        connection.setInstanceFollowRedirects(false);
        connection.setConnectTimeout(CONNECT_MS);
        connection.setReadTimeout(silenceMs);
        connection.setUseCaches(false);
        connection.setRequestProperty("User-Agent", "larder");
        connection.setRequestProperty("Accept", "*/*");
        connection.setRequestProperty("Accept-Encoding", "identity");
        preparation.prepare(connection);
        if (!found.header().isEmpty()) {
            connection.setRequestProperty(found.header(), found.value());
        }
        return connection;
    }
}
