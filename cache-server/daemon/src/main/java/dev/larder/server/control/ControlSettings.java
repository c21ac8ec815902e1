package dev.larder.server.control;

import dev.larder.internal.layout.StoreLayout;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What a {@link ControlServer} keeps to.
 *
 * @param socket the file to listen at, in a folder that only those can enter who may connect
 * @param daemonVersion told to clients
 * @param maxConnections clients at a time; more are refused with a reason
 * @param callTimeout how long a client may take from connecting, or from the first byte of a message, to the end of the message
 * @param idleTimeout how long a connection may stay open without a call
 * @param heartbeat how often a waiting client hears from us; it gives up after some ten seconds without
 * @param stallTimeout how long a client may take to read its answer, or refuse to read anything else
 * @param closeTimeout how long a close waits for answers to leave
 */
public record ControlSettings(
        Path socket,
        String daemonVersion,
        int maxConnections,
        Duration callTimeout,
        Duration idleTimeout,
        Duration heartbeat,
        Duration stallTimeout,
        Duration closeTimeout) {

    /** Returns the folder of the store. */
    Path folder() {
        Path folder = socket.toAbsolutePath().getParent();
        if (folder == null) {
            throw new IllegalArgumentException("socket=" + socket);
        }
        return folder;
    }

    /** Returns what a daemon uses for a store. */
    public static ControlSettings of(StoreLayout store, String daemonVersion) {
        return new ControlSettings(
                store.socket(),
                daemonVersion,
                1024,
                Duration.ofSeconds(5),
                Duration.ofMinutes(1),
                Duration.ofMillis(500),
                Duration.ofSeconds(30),
                Duration.ofMillis(500));
    }
}
