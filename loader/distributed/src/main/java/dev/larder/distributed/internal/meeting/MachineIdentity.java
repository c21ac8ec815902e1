package dev.larder.distributed.internal.meeting;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Which machine this is, and which of its boots.
 *
 * @param bootDigest differs for every boot of every machine
 * @param machineDigest the same for all boots of one machine
 * @param isKnown whether the machine has an identity that lasts; many containers have none
 */
public record MachineIdentity(long bootDigest, long machineDigest, boolean isKnown) {
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path MACHINE = Path.of("/etc/machine-id");

    static MachineIdentity current() {
        try {
            String machine = Files.exists(MACHINE) ? Files.readString(MACHINE).strip() : "";
            return new MachineIdentity(digest(bootId()), digest(machine), !machine.isEmpty());
        } catch (IOException e) {
            throw unknown(e);
        }
    }

    /** Returns a text that differs for every boot of every machine. */
    public static String bootId() {
        try {
            return Files.readString(BOOT).strip();
        } catch (IOException e) {
            throw unknown(e);
        }
    }

    private static LarderException unknown(IOException reason) {
        return Failure.of(ErrorCode.UNEXPECTED, "cannot identify this machine")
                .with("reason", reason)
                .cause(reason)
                .remedy("mount /proc");
    }

    private static long digest(String text) {
        return ByteBuffer.wrap(Keys.digest(List.of(text))).getLong();
    }
}
