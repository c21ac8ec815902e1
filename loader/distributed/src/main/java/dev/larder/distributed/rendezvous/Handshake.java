package dev.larder.distributed.rendezvous;

/**
 * How two sides of a connection prove to each other that they know the run's secret, in every protocol of ours: over what each of them
 * has sent first, with a number in it that it has drawn for this connection. A proof holds for one protocol, one side, one connection
 * and what is said with it. Deadlines and lengths are the reader's affair. Immutable.
 */
public final class Handshake {
    /** Who of the two. */
    public enum Side {
        /** Who has connected, and speaks first. */
        GUEST,
        /** Who listens. */
        HOST
    }

    private final RunSecret secret;
    private final String protocol;
    private final byte[] guest;
    private final byte[] host;

    /**
     * Remembers what both sides have sent first.
     *
     * @param protocol that no other one of ours has as a name
     * @param guest of the guest, its number in it
     * @param host of the host, its number in it
     */
    public Handshake(RunSecret secret, String protocol, byte[] guest, byte[] host) {
        this.secret = secret;
        this.protocol = protocol;
        this.guest = guest.clone();
        this.host = host.clone();
    }

    /** Makes a side's proof, which covers what it says with it. */
    public byte[] proof(Side side, byte[]... said) {
        return secret.proof(role(side, "proof"), parts(said));
    }

    /** Tells whether a proof is that of a side that knows the secret and has said this, in a time that says nothing about how it differs. */
    public boolean proves(byte[] proof, Side side, byte[]... said) {
        return secret.proves(proof, role(side, "proof"), parts(said));
    }

    /** Returns the key of this connection for the codes of messages that a side sends later. */
    public byte[] key(Side sender) {
        return secret.proof(role(sender, "key"), parts());
    }

    private String role(Side side, String what) {
        return protocol + " " + side + " " + what;
    }

    private byte[][] parts(byte[]... said) {
        byte[][] parts = new byte[said.length + 2][];
        parts[0] = guest;
        parts[1] = host;
        System.arraycopy(said, 0, parts, 2, said.length);
        return parts;
    }
}
