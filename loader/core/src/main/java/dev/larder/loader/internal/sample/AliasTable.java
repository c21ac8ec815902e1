package dev.larder.loader.internal.sample;

import java.util.Arrays;

/**
 * Draws a row by weight in constant time: the alias method of Walker (1977), with the table of Vose, "A Linear Algorithm for
 * Generating Random Numbers with a Given Distribution" (1991).
 */
public final class AliasTable {
    private final double[] kept;
    private final int[] aliases;

    private AliasTable(double[] kept, int[] aliases) {
        this.kept = kept;
        this.aliases = aliases;
    }

    /** Returns the table for weights. */
    public static AliasTable of(Weights weights) {
        double[] kept = weights.scaled();
        double mean = Arrays.stream(kept).sum() / kept.length;
        int[] aliases = new int[kept.length];
        int[] stack = new int[kept.length]; // rows below the mean from the left, others from the right
        int below = 0;
        int above = kept.length;
        for (int row = 0; row < kept.length; row++) {
            kept[row] /= mean;
            aliases[row] = row;
            if (kept[row] < 1) {
                stack[below++] = row;
            } else {
                stack[--above] = row;
            }
        }
        while (below > 0 && above < kept.length) {
            int small = stack[--below];
            int large = stack[above];
            aliases[small] = large;
            kept[large] -= 1 - kept[small];
            if (kept[large] < 1) {
                above++;
                stack[below++] = large;
            }
        }
        while (below > 0) { // left by rounding
            kept[stack[--below]] = 1;
        }
        return new AliasTable(kept, aliases);
    }

    /** Returns a row from random bits: the upper bits choose an entry of the table, the others one of its two rows. */
    public int draw(long bits) {
        int place = Philox.below(bits, kept.length);
        return Philox.unitDouble(bits * kept.length) < kept[place] ? place : aliases[place];
    }
}
