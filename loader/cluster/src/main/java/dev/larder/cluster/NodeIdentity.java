package dev.larder.cluster;

import dev.larder.distributed.internal.meeting.MachineIdentity;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Which node this is: a boot of a machine, and a store. Containers and namespaces with a {@code /dev/shm} of their own are nodes.
 *
 * @param host the name of the machine, for people
 * @param boot differs for every boot of every machine
 * @param store the file system and the folder that the store is, or will be
 * @param place the folder above it and its name, which stay the same when a daemon makes the store
 */
record NodeIdentity(String host, String boot, String store, String place) {
    static NodeIdentity of(Path store) {
        try {
            Path there = store.toAbsolutePath().normalize();
            Path above = Objects.requireNonNullElse(there.getParent(), there);
            return new NodeIdentity(hostName(), MachineIdentity.bootId(), text(there, there), text(above, there));
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot identify this machine and store")
                    .with("store", store)
                    .with("reason", e)
                    .cause(e)
                    .remedy("mount /proc, and name a store that this user can reach");
        }
    }

    /** Names a folder by the first one above it, or itself, that exists. */
    private static String text(Path from, Path folder) throws IOException {
        Path there = from;
        while (!Files.exists(there) && there.getParent() != null) {
            there = there.getParent();
        }
        return Files.getAttribute(there, "unix:dev") + "/" + Files.getAttribute(there, "unix:ino") + "/"
                + there.relativize(folder);
    }

    private static String hostName() throws IOException {
        Path kernel = Path.of("/proc/sys/kernel/hostname");
        try {
            return Files.exists(kernel)
                    ? Files.readString(kernel).strip()
                    : InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }
}
