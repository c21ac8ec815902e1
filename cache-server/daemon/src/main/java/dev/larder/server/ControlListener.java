package dev.larder.server;

import dev.larder.server.control.ControlServer;
import java.io.IOException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Listens at the control socket, and again where somebody has removed it. */
final class ControlListener {
    private final Supplier<ControlServer> starter;
    private final BooleanSupplier isStopping;
    private volatile @Nullable ControlServer server;

    ControlListener(Supplier<ControlServer> starter, BooleanSupplier isStopping) {
        this.starter = starter;
        this.isStopping = isStopping;
    }

    /** Listens from now on, in place of whoever has listened so far. */
    void listen() {
        close();
        server = starter.get();
        if (isStopping.getAsBoolean()) { // which may have ended the one before
            close();
        }
    }

    /** Takes the socket away, while those who are connected are still answered. */
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
