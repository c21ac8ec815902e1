package dev.larder.server;

import dev.larder.server.control.ControlServer;
import java.io.IOException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Listens at the control socket, and again if another program removes it. */
final class ControlListener {
    private final Supplier<ControlServer> starter;
    private final BooleanSupplier isStopping;
    private volatile @Nullable ControlServer server;

    ControlListener(Supplier<ControlServer> starter, BooleanSupplier isStopping) {
        this.starter = starter;
        this.isStopping = isStopping;
    }

    /** Starts to listen, and ends the previous server if there is one. */
    void listen() {
        close();
        server = starter.get();
        if (isStopping.getAsBoolean()) { // a stop may have closed the previous server only
            close();
        }
    }

    /** Removes the socket. Connected clients are still answered. */
    void stopAccepting() throws IOException {
        ControlServer listening = server;
        if (listening != null) {
            listening.stopAccepting();
        }
    }

    /** Ends all exchanges. Idempotent. */
    void close() {
        ControlServer listening = server;
        if (listening != null) {
            listening.close();
        }
    }
}
