package dev.larder.server.http;

/** The resource of a path. Called by several threads at the same time; changes nothing, and answers within a second or two. */
@FunctionalInterface
public interface HttpResource {
    /**
     * Answers a request that contained the token.
     *
     * @throws dev.larder.error.LarderException sent to the client: NOT_FOUND as 404, USAGE as 400, all others as 500
     */
    HttpAnswer answer(HttpQuery query);
}
