package dev.larder.server.source.scan;

import dev.larder.error.LarderException;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;

/** Keeps the first refusals and counts the others: of a million bad files nobody reads more. What it gives for those is any of the first. */
final class Refusals extends AbstractList<LarderException> {
    private static final int MOST_KEPT = 1_000;

    private final List<LarderException> kept = new ArrayList<>();
    private int count;

    @Override
    public boolean add(LarderException refusal) {
        if (kept.size() < MOST_KEPT) {
            kept.add(refusal);
        }
        count++;
        modCount++;
        return true;
    }

    @Override
    public LarderException get(int index) {
        return kept.get(Math.min(index, kept.size() - 1));
    }

    @Override
    public int size() {
        return count;
    }
}
