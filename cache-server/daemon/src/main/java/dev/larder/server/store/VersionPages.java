package dev.larder.server.store;

import java.util.function.BooleanSupplier;

/**
 * The pages of the files of a version, in pieces of 2 MiB that are numbered over all files. The rest at the end of a file is not a piece.
 * Moving pieces to huge pages changes nothing for readers but speed. One thread only.
 */
public interface VersionPages {
    /** The size of a piece. */
    long PIECE_BYTES = 2 << 20;

    /** Returns the number of pieces; 0 if the file system has no huge pages. */
    long pieces();

    /** Counts the pieces on huge pages, until {@code mayContinue} returns false. */
    long hugePieces(BooleanSupplier mayContinue);

    /**
     * Moves a piece to a huge page. Takes a tenth of a millisecond if it is on one already. Removals wait meanwhile, or they would not free
     * the memory.
     *
     * @return false if the kernel refuses
     */
    boolean collapse(long piece);
}
