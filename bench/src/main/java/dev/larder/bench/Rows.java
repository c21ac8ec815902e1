package dev.larder.bench;

import com.google.gson.Gson;

/** Prints measurements: each record is a JSON object on a line of its own. */
public final class Rows {
    private static final Gson GSON = new Gson();

    private Rows() {}

    /** Prints a row. */
    public static void print(Record row) {
        System.out.println(GSON.toJson(row));
    }

    /** Rounds to this many decimal places. */
    public static double rounded(double value, int places) {
        double power = Math.pow(10, places);
        return Math.round(value * power) / power;
    }
}
