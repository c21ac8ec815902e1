package dev.larder.loader.internal.sample;

/** Rows sorted by group, in ascending order within each. */
public final class Groups {
    private final int[] rows;
    private final int[] starts;

    private Groups(int[] rows, int[] starts) {
        this.rows = rows;
        this.starts = starts;
    }

    /** Sorts rows by their groups. */
    public static Groups of(int[] groupOfRow, int groups) {
        int[] starts = new int[groups + 1];
        for (int group : groupOfRow) {
            starts[group + 1]++;
        }
        for (int group = 0; group < groups; group++) {
            starts[group + 1] += starts[group];
        }
        int[] next = starts.clone();
        int[] rows = new int[groupOfRow.length];
        for (int row = 0; row < rows.length; row++) {
            rows[next[groupOfRow[row]]++] = row;
        }
        return new Groups(rows, starts);
    }

    public int groups() {
        return starts.length - 1;
    }

    public int rows() {
        return rows.length;
    }

    public int size(int group) {
        return starts[group + 1] - starts[group];
    }

    /** Returns a row of a group. */
    public int row(int group, long place) {
        return rows[starts[group] + (int) place];
    }
}
