package dev.larder.server.http;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers requests for a few paths on the loopback interface. A request without the token gets 401 for every path, and one with a foreign
 * host name 421. No client can delay another client, or another part of the daemon; see {@link HttpListener}. No request changes anything:
 * only GET and HEAD are answered.
 */
public final class HttpEndpoint implements AutoCloseable {
    /** The path of the status page, which removes the token from its address. */
    public static final String PAGE = "/";

    /** The path of the metrics. */
    public static final String METRICS = "/metrics";

    private static final Logger LOG = LoggerFactory.getLogger(HttpEndpoint.class);
    private static final int SEE_OTHER = 303;
    private static final int MISDIRECTED = 421;
    private static final int LEAST_ZIPPED = 1_024;
    private static final String TEXT = "text/plain; charset=utf-8";

    private static final Map<ErrorCode, Integer> STATUS = Map.of(ErrorCode.NOT_FOUND, 404, ErrorCode.USAGE, 400);

    private final HttpListener listener;
    private final AccessToken token;
    private final Path tokenFile;
    private final AtomicBoolean closed = new AtomicBoolean();

    private HttpEndpoint(HttpListener listener, AccessToken token, Path tokenFile) {
        this.listener = listener;
        this.token = token;
        this.tokenFile = tokenFile;
    }

    /**
     * The source of the token, and its file in the store.
     *
     * @param storeFile the file in the store that contains the token while the daemon runs; only its owner may read it
     * @param userFile the user's file that keeps it across starts; null for a new token with each start
     * @param group the number of the group that may read {@code userFile} if it is created; null for none
     */
    public record TokenPlace(
            Path storeFile,
            @Nullable Path userFile,
            @Nullable Integer group) {
        AccessToken token() {
            return userFile == null ? AccessToken.random() : AccessToken.fromFile(userFile, group);
        }

        Path shownFile() {
            return userFile == null ? storeFile : userFile.toAbsolutePath();
        }
    }

    /**
     * Listens, and writes the token to a file that only its owner may read. The caller closes it.
     *
     * @param port 0 for any free port
     * @param hosts host names that requests may use, besides those of the loopback interface
     * @param resources the resources, by path
     * @throws dev.larder.error.LarderException REFUSED if the port is taken, or the user's file is not safe
     */
    public static HttpEndpoint start(
            int port, Set<String> hosts, TokenPlace place, Map<String, HttpResource> resources) {
        AccessToken token = place.token();
        HostNames names = HostNames.loopbackAnd(hosts);
        HttpListener listener = HttpListener.bind(
                port, bound -> new Answers(names, token, bound.getPort(), place.shownFile(), Map.copyOf(resources)));
        HttpEndpoint endpoint = new HttpEndpoint(listener, token, place.storeFile());
        try {
            token.writeTo(place.storeFile());
            listener.start();
            return endpoint;
        } catch (RuntimeException | Error e) {
            endpoint.close();
            throw e;
        }
    }

    /** Returns the address of the status page, without the token. */
    public URI address() {
        InetSocketAddress bound = listener.address();
        return URI.create("http://" + bound.getAddress().getHostAddress() + ":" + bound.getPort() + PAGE);
    }

    /** Returns the address of a path, including the token. */
    public URI address(String path) {
        return address().resolve(path + "?" + AccessToken.PARAMETER + token.text());
    }

    /**
     * Checks requests, and answers the permitted ones.
     *
     * @param file the file that contains the token
     */
    private record Answers(HostNames names, AccessToken token, int port, Path file, Map<String, HttpResource> resources)
            implements HttpListener.Handler {
        @Override
        public @Nullable HttpReply refuse(HttpCall call) {
            if (!names.isNamedBy(call)) {
                return HttpReply.refusal(
                        MISDIRECTED, Map.of(), "this server does not have that name: serve it with --http-host NAME");
            } else if (!token.isSentBy(call, port)) {
                return HttpReply.refusal(
                        401,
                        Map.of("WWW-Authenticate", "Bearer"),
                        "the request has no valid token: send Authorization: Bearer TOKEN, or ?token=TOKEN; TOKEN is the text of "
                                + file);
            } else if (!resources.containsKey(call.path())) {
                return HttpReply.refusal(404, Map.of(), "nothing is served at this path");
            } else if (!List.of("GET", "HEAD").contains(call.method())) {
                return HttpReply.refusal(405, Map.of("Allow", "GET, HEAD"), "only GET and HEAD are answered");
            } else if (call.path().equals(PAGE) && token.isInAddressOf(call)) {
                return new HttpReply(
                        SEE_OTHER, Map.of("Set-Cookie", token.cookie(port), "Location", PAGE), new byte[0]);
            }
            return null;
        }

        @Override
        public HttpReply answer(HttpCall call) {
            try {
                HttpResource resource = Objects.requireNonNull(resources.get(call.path()));
                HttpQuery query = HttpQuery.of(call.uri().getRawQuery(), call.first("accept"));
                return reply(200, call, resource.answer(query));
            } catch (LarderException e) {
                byte[] text = String.valueOf(e.getMessage()).getBytes(StandardCharsets.UTF_8);
                return reply(STATUS.getOrDefault(e.code(), 500), call, HttpAnswer.of(TEXT, text));
            } catch (RuntimeException | Error e) {
                LOG.warn("cannot answer over HTTP: {}", e.toString());
                return HttpReply.refusal(
                        500, Map.of(), "the daemon failed to answer: larder errors may list the reason");
            }
        }

        private static HttpReply reply(int status, HttpCall call, HttpAnswer answer) {
            Map<String, String> headers = new HashMap<>();
            if (!answer.tag().isEmpty()) {
                headers.put("ETag", answer.tag());
                if (answer.tag().equals(call.first("if-none-match"))) {
                    return new HttpReply(HttpReply.NOT_MODIFIED, headers, new byte[0]);
                }
            }
            headers.put("Content-Type", answer.type());
            byte[] body = answer.body();
            if (answer.isText() && body.length >= LEAST_ZIPPED && takesZipped(call)) {
                headers.put("Content-Encoding", "gzip");
                body = zipped(body);
            }
            return new HttpReply(status, headers, body);
        }
    }

    private static boolean takesZipped(HttpCall call) {
        return call.all("accept-encoding").stream().anyMatch(accepted -> accepted.matches("(.*,)?\\s*gzip\\s*(,.*)?"));
    }

    private static byte[] zipped(byte[] body) {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream(body.length / 4);
        try (GZIPOutputStream zip = new GZIPOutputStream(zipped)) {
            zip.write(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return zipped.toByteArray();
    }

    /** Stops listening, drops all clients, and removes the token's file from the store. Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            listener.close();
            try {
                token.removeFrom(tokenFile);
            } catch (IOException e) {
                LOG.warn("cannot remove the token for HTTP: {}", Failure.words(e));
            }
        }
    }
}
