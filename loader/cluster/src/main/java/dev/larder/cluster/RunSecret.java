package dev.larder.cluster;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** What all launchers of a run know and nobody else does. It proves who speaks, and is never sent. Immutable. */
public final class RunSecret {
    /** The environment variable that has it, of launchers and of their ranks. */
    public static final String VARIABLE = "LARDER_RDZV_SECRET";

    private static final String ALGORITHM = "HmacSHA256";
    private static final int FEWEST_CHARACTERS = 16;
    private static final int MOST_BYTES = 4096;
    private static final String REMEDY =
            "make one, the same for all machines: export " + VARIABLE + "=$(head -c 32 /dev/urandom | base64 -w0)";

    private final String text;

    private RunSecret(String text) {
        this.text = text;
    }

    /** Stands for the lack of one, among processes of one machine. */
    static RunSecret none() {
        return new RunSecret("");
    }

    /** Reads it from a file where one is named, else from the text of the variable; null where neither is there. */
    public static @Nullable RunSecret find(@Nullable Path file, @Nullable String variable) {
        if (file != null) {
            return checked(read(file), "file", file.toString());
        }
        return variable == null || variable.isBlank() ? null : checked(variable.strip(), "variable", VARIABLE);
    }

    /** Returns the failure of who needs one and has none. */
    static RuntimeException missing(String endpoint) {
        return Failure.of(ErrorCode.USAGE, "a rendezvous that other machines reach needs the run's secret")
                .with("endpoint", endpoint)
                .remedy(REMEDY);
    }

    private static RunSecret checked(String text, String key, String place) {
        if (text.length() < FEWEST_CHARACTERS) {
            throw Failure.of(ErrorCode.USAGE, "the run's secret is too short")
                    .with(key, place)
                    .with("characters", text.length())
                    .with("min", FEWEST_CHARACTERS)
                    .remedy(REMEDY);
        }
        return new RunSecret(text);
    }

    private static String read(Path file) {
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
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw unreadable(file, e).cause(e).remedy("name a file that this user can read");
        }
    }

    private static Failure unreadable(Path file, Object reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot read the run's secret")
                .with("file", file)
                .with("reason", reason);
    }

    /** Returns the secret itself, for the environment of ranks; empty where there is none. */
    String text() {
        return text;
    }

    /** Returns a code of the texts that only who knows the secret can make. */
    byte[] code(byte[]... texts) {
        Mac mac = mac(("larder" + text).getBytes(StandardCharsets.UTF_8)); // a key cannot be empty
        for (byte[] part : texts) {
            mac.update(part);
        }
        return mac.doFinal();
    }

    /** Returns what makes codes by a key. */
    static Mac mac(byte[] key) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            return mac;
        } catch (NoSuchAlgorithmException | InvalidKeyException e) {
            throw new IllegalStateException("every JDK has " + ALGORITHM, e);
        }
    }

    /** Says nothing of the secret. */
    @Override
    public String toString() {
        return "RunSecret";
    }
}
