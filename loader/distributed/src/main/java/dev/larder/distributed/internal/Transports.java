package dev.larder.distributed.internal;

import dev.larder.distributed.transport.GroupTransport;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.List;
import java.util.ServiceLoader;

/** Finds the transport between nodes. */
public final class Transports {
    private static final String VARIABLE = "LARDER_TRANSPORT";

    private Transports() {}

    /** Returns the only transport of the class path, or the one that the environment names. */
    public static GroupTransport find() {
        String wanted = System.getenv().getOrDefault(VARIABLE, "");
        List<GroupTransport> found = ServiceLoader.load(GroupTransport.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(transport -> wanted.isBlank() || transport.name().equals(wanted))
                .toList();
        if (found.size() == 1) {
            return found.get(0);
        }
        throw Failure.of(
                        ErrorCode.REFUSED,
                        found.isEmpty()
                                ? "no transport on the class path connects nodes"
                                : "the class path has several transports")
                .with("transports", found.stream().map(GroupTransport::name).toList())
                .with(VARIABLE, wanted.isBlank() ? "not-set" : wanted)
                .remedy(
                        found.isEmpty()
                                ? "add dev.larder:larder-loader-gloo, and its dependencies, to the class path of the"
                                        + " ranks"
                                : "name one of them in " + VARIABLE);
    }
}
