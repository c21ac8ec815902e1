package dev.larder.server.http;

/** What is read under one path. Asked by several threads at once; changes nothing, and answers within a second or two. */
@FunctionalInterface
public interface HttpResource {
    /**
     * Answers a question of somebody who knows the token.
     *
     * @throws dev.larder.error.LarderException told to the client: NOT_FOUND as 404, USAGE as 400, all others as 500
     */
    HttpAnswer answer(HttpQuestion question);
}
