package dev.larder.command;

import dev.larder.protocol.ArrayRow;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Arrays as people read them. */
final class ArrayText {
    private static final List<String> BRIEF = List.of("NAME", "DTYPE", "SHAPE");
    private static final List<String> REST = List.of(
            "ORDER",
            Table.RIGHT + "SIZE",
            Table.RIGHT + "VERSION",
            "STATE",
            "PINNED",
            Table.RIGHT + "LEASES",
            Table.RIGHT + "OFFSET",
            "CRC32C",
            "DIGEST",
            "PATH",
            "SOURCE");
    private static final int DIGEST_DIGITS = 12;

    private ArrayText() {}

    /** Returns a table with one line for each array: the columns one mostly wants, or all. */
    static List<String> table(List<ArrayRow> rows, boolean all) {
        List<String> headings = new ArrayList<>(BRIEF);
        if (all) {
            headings.addAll(REST);
        }
        Table table = Table.of(headings);
        for (ArrayRow row : rows) {
            List<String> cells = new ArrayList<>(
                    row.dtype().isEmpty() && row.state() == ArrayRow.State.REGISTERED
                            ? List.of(row.name(), "-", "registered")
                            : List.of(row.name(), row.dtype(), shape(row.shape())));
            if (all) {
                cells.addAll(rest(row));
            }
            table.row(cells);
        }
        return table.lines();
    }

    /** Returns one line for each fact about an array. */
    static List<String> facts(ArrayRow row) {
        return List.of(
                "name     " + row.name(),
                "dtype    " + row.dtype(),
                "shape    " + shape(row.shape()),
                "order    " + row.order(),
                "bytes    " + row.bytes() + (row.bytes() < 1024 ? "" : " (" + Units.size(row.bytes()) + ")"),
                "version  " + row.version(),
                "digest   " + row.digest(),
                "state    " + row.state().text(),
                "pinned   " + yesOrNo(row.pinned()),
                "leases   " + row.leases(),
                "path     " + orDash(row.path()),
                "offset   " + row.offset(),
                "crc32c   " + orDash(row.crc32c()),
                "source   " + orDash(row.source()));
    }

    /** Writes a shape as numpy does, without blanks: {@code (60000,28,28)}, {@code (10,)}, {@code ()}. */
    static String shape(List<Long> shape) {
        String extents = shape.stream().map(String::valueOf).collect(Collectors.joining(","));
        return "(" + extents + (shape.size() == 1 ? ",)" : ")");
    }

    private static List<String> rest(ArrayRow row) {
        String digest = row.digest();
        return List.of(
                String.valueOf(row.order()),
                Units.size(row.bytes()),
                String.valueOf(row.version()),
                row.state().text(),
                yesOrNo(row.pinned()),
                String.valueOf(row.leases()),
                String.valueOf(row.offset()),
                orDash(row.crc32c()),
                orDash(digest.substring(0, Math.min(DIGEST_DIGITS, digest.length()))),
                orDash(row.path()),
                orDash(row.source()));
    }

    private static String yesOrNo(boolean value) {
        return value ? "yes" : "no";
    }

    private static String orDash(String text) {
        return text.isEmpty() ? "-" : text;
    }
}
