package dev.larder.server.source.scan;

import dev.larder.error.LarderException;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;

/** Keeps the first refusals and counts all: a million would fill the heap. For each of the others it returns the last that it keeps. */
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
