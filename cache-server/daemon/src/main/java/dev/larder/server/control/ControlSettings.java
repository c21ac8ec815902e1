package dev.larder.server.control;

import dev.larder.internal.layout.StoreLayout;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The settings of a {@link ControlServer}.
 *
 * @param socket the socket file, in a folder that only permitted users can enter
 * @param daemonVersion sent to clients
 * @param maxConnections clients at a time; more are refused with a reason
 * @param callTimeout limit from connecting, or from the first byte of a message, to the end of the message
 * @param idleTimeout how long a connection may stay open without a call
 * @param heartbeat the time between messages to a waiting client; it gives up after about ten seconds without one
 * @param stallTimeout how long a client may take to read its answer or a refusal
 * @param closeTimeout how long a close waits until answers are sent
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

    /** Returns the settings of a daemon for a store. */
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
