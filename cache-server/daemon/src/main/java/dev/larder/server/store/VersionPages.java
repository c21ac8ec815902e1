package dev.larder.server.store;

import java.util.function.BooleanSupplier;

/**
 * The pages that the files of a version lie on, in pieces of 2 MiB that are numbered over all files. What is left over at the end of a
 * file is no piece. Readers notice nothing but speed when their pages become huge. For one thread.
 */
public interface VersionPages {
    /** How many bytes a piece has. */
    long PIECE_BYTES = 2 << 20;

    /** Returns how many pieces there are; none where the file system has no huge pages to give. */
    long pieces();

    /** Returns how many pieces are on huge pages, as far as it has looked when {@code mayGoOn} says no. */
    long hugePieces(BooleanSupplier mayGoOn);

    /**
     * Moves a piece to a huge page. One that is there already takes a tenth of a millisecond. A removal waits meanwhile, or what it
     * removes would keep its memory.
     *
     * @return false where the kernel refuses
     */
    boolean collapse(long piece);
}
