package dev.larder.command.doctor;

import dev.larder.internal.layout.StoreLayout;
import java.nio.charset.StandardCharsets;

/** Checks that the path of the control socket is short enough for the kernel. */
final class SocketPathCheck implements Check {
    @Override
    public String name() {
        return "socket-path";
    }

    @Override
    public Finding look(Machine machine) {
        String path = new StoreLayout(machine.store()).socket().toString();
        int bytes = path.getBytes(StandardCharsets.UTF_8).length;
        String found = "bytes=" + bytes + " limit=" + StoreLayout.SOCKET_PATH_LIMIT;
        return bytes > StoreLayout.SOCKET_PATH_LIMIT
                ? Finding.problem(
                        name(), found + " path=" + path, "export LARDER_STORE=/dev/shm/larder-" + machine.user())
                : Finding.ok(name(), found);
    }
}
