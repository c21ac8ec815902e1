package dev.larder.distributed.internal.meeting;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret of a run, which only its nodes have. It is never sent: each side proves its knowledge over random numbers of the other side.
 * Immutable.
 */
public final class RunSecret {
    /** The environment variable of the secret. */
    public static final String VARIABLE = "LARDER_RDZV_SECRET";

    /** The command that creates a secret, for messages. */
    public static final String REMEDY =
            "set the same secret on all nodes: export " + VARIABLE + "=$(openssl rand -hex 32)";

    /** The length of a proof. */
    public static final int PROOF_BYTES = 32;

    /** The length of a random number. */
    public static final int NONCE_BYTES = 32;

    /** No secret: for ranks that only this machine reaches. */
    public static final RunSecret NONE = new RunSecret("");

    private static final int FEWEST_CHARACTERS = 16;
    private static final String ALGORITHM = "HmacSHA256";

    private static final SecureRandom RANDOM = new SecureRandom();

    private final String text;
    private final byte[] key;
    private final boolean isGiven;

    private RunSecret(String text) {
        this.text = text;
        this.isGiven = !text.isEmpty();
        this.key = (isGiven ? text : "larder: no secret").getBytes(StandardCharsets.UTF_8);
    }

    /** Uses a text as the secret, without the white space around it; at least 16 characters. */
    public static RunSecret of(String text) {
        String stripped = text.strip();
        if (stripped.length() < FEWEST_CHARACTERS) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the run's secret is too short")
                    .with("characters", stripped.length())
                    .with("fewest", FEWEST_CHARACTERS)
                    .remedy(REMEDY);
        }
        return new RunSecret(stripped);
    }

    /** Returns the secret of an environment, or {@link #NONE}. */
    public static RunSecret ofEnvironment(Map<String, String> environment) {
        String text = environment.getOrDefault(VARIABLE, "");
        return text.isBlank() ? NONE : of(text);
    }

    /** Returns the secret itself, for the environment of other processes of the run; may be empty. */
    public String text() {
        return text;
    }

    /** Returns whether there is a secret. */
    public boolean isGiven() {
        return isGiven;
    }

    /** Returns a random number for one connection. */
    public static byte[] nonce() {
        byte[] nonce = new byte[NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        return nonce;
    }

    /**
     * Returns a code that only an owner of the secret can compute.
     *
     * @param role the name of this kind of proof, so that it does not pass as another kind
     * @param parts texts that both sides have sent, with the random number of the other side
     */
    public byte[] proof(String role, byte[]... parts) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            mac.update((role + '\0').getBytes(StandardCharsets.UTF_8));
            for (byte[] part : parts) {
                mac.update((part.length + ":").getBytes(StandardCharsets.UTF_8));
                mac.update(part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has " + ALGORITHM, e);
        }
    }

    @Override
    public String toString() {
        return isGiven ? "RunSecret{given}" : "RunSecret{none}";
    }
}
