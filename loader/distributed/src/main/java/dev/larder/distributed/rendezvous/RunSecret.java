package dev.larder.distributed.rendezvous;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What all nodes of a run know and nobody else does. It is never sent: each side proves that it knows it, over numbers that the other
 * side has just drawn. Immutable.
 */
public final class RunSecret {
    /** The variable of the environment that has it. */
    public static final String VARIABLE = "LARDER_RDZV_SECRET";

    /** The command that makes one, for messages. */
    public static final String REMEDY =
            "set the same secret on all nodes: export " + VARIABLE + "=$(openssl rand -hex 32)";

    /** How many bytes a proof has. */
    public static final int PROOF_BYTES = 32;

    /** How many bytes a side draws for the other side's proof. */
    public static final int NONCE_BYTES = 32;

    /** Stands where there is none: of ranks that only this machine reaches. */
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

    /** Takes a text as the secret, without the white space around it; at least 16 characters. */
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

    /** Returns that of an environment; {@link #NONE} where it has none. */
    public static RunSecret ofEnvironment(Map<String, String> environment) {
        String text = environment.getOrDefault(VARIABLE, "");
        return text.isBlank() ? NONE : of(text);
    }

    /** Returns the secret itself, for the environment of other processes of the run; empty where there is none. */
    public String text() {
        return text;
    }

    /** Tells whether there is one. */
    public boolean isGiven() {
        return isGiven;
    }

    /** Draws what only this connection has, for the other side to prove that it knows the secret. */
    public static byte[] nonce() {
        byte[] nonce = new byte[NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        return nonce;
    }

    /**
     * Proves that this side knows the secret.
     *
     * @param role that no other kind of proof has, so that none can be sent back as another
     * @param parts what both sides have sent, numbers drawn by the other side among it
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

    /** Tells whether a proof is that of somebody who knows the secret, in a time that says nothing about how it differs. */
    public boolean proves(byte[] proof, String role, byte[]... parts) {
        return MessageDigest.isEqual(proof, proof(role, parts));
    }

    @Override
    public String toString() {
        return isGiven ? "RunSecret{given}" : "RunSecret{none}";
    }
}
