package dev.larder.server.store;

import java.util.function.BooleanSupplier;

/** The pages of a version that cannot lie on huge ones. */
enum NoPages implements VersionPages {
    INSTANCE;

    @Override
    public long pieces() {
        return 0;
    }

    @Override
    public long hugePieces(BooleanSupplier mayGoOn) {
        return 0;
    }

    @Override
    public boolean collapse(long piece) {
        throw new IndexOutOfBoundsException("piece " + piece + " of 0");
    }
}
