package dev.larder.server.store;

import java.util.function.BooleanSupplier;

/** The pages of a version on a file system without huge pages. */
enum NoPages implements VersionPages {
    INSTANCE;

    @Override
    public long pieces() {
        return 0;
    }

    @Override
    public long hugePieces(BooleanSupplier mayContinue) {
        return 0;
    }

    @Override
    public boolean collapse(long piece) {
        throw new IndexOutOfBoundsException("piece " + piece + " of 0");
    }
}
