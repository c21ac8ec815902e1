package dev.larder.cluster;

import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/** A file with the secret of a run, which only its owner may read. */
public final class SecretFile {
    private static final int MOST_BYTES = 4096;

    private SecretFile() {}

    /**
     * Reads the secret.
     *
     * @throws dev.larder.error.LarderException REFUSED if others can read it, BAD_INPUT if it has no secret
     */
    public static RunSecret read(Path file) {
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw unreadable(file, "it has more than " + MOST_BYTES + " bytes")
                        .remedy("name another file");
            }
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
            if (permissions.contains(PosixFilePermission.OTHERS_READ)
                    || permissions.contains(PosixFilePermission.GROUP_READ)) {
                throw Failure.of(ErrorCode.REFUSED, "others can read the file of the run's secret")
                        .with("file", file)
                        .remedy("chmod 600 " + file);
            }
            return RunSecret.of(Files.readString(file));
        } catch (IOException e) {
            throw unreadable(file, e).cause(e).remedy("name a file that this user can read");
        }
    }

    private static Failure unreadable(Path file, Object reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot read the run's secret")
                .with("file", file)
                .with("reason", reason);
    }
}
