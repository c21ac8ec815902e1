package dev.larder.command.output;

import dev.larder.client.Column;
import dev.larder.internal.protocol.ArrayRow;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Formats arrays for people. */
public final class ArrayText {
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

    /** Returns a table with one line for each array and column: the most important columns, or all. */
    public static List<String> table(List<ListedRow> rows, boolean all) {
        List<String> headings = new ArrayList<>(BRIEF);
        if (all) {
            headings.addAll(REST);
        }
        Table table = Table.of(headings);
        rows.forEach(row -> table.row(() -> cells(row, all)));
        return table.lines();
    }

    private static List<String> cells(ListedRow row, boolean all) {
        List<String> cells = new ArrayList<>(List.of(row.name(), row.type(), row.extent()));
        if (all) {
            cells.addAll(rest(row));
        }
        return cells;
    }

    /** Returns one line for each fact about an array, a column, or a dataset that is not in memory. */
    public static List<String> facts(ListedRow row) {
        ArrayRow first = row.first();
        List<String> facts = new ArrayList<>();
        facts.add("name     " + row.name());
        if (row.isOnlyKnown()) {
            facts.add("state    " + row.extent() + ": loaded when a process opens it, or by larder wait "
                    + row.dataset());
            if (first.version() > 0) {
                facts.add("bytes    " + bytes(row.bytes()));
                facts.add("version  " + first.version());
                facts.add("digest   " + first.digest());
            }
            facts.add("source   " + orDash(row.source()));
            return facts;
        }
        if (row.column() == null) {
            facts.add("dtype    " + row.type());
            facts.add("shape    " + row.extent());
            facts.add("order    " + first.order());
        } else {
            facts.add("column   " + row.type());
            facts.add((row.column() == Column.Kind.INDEX ? "keys     " : "rows     ") + row.rows());
        }
        facts.add("bytes    " + bytes(row.bytes()));
        facts.add("version  " + first.version());
        facts.add("digest   " + orDash(first.digest()));
        facts.add("state    " + first.state().text());
        facts.add("pinned   " + yesOrNo(first.pinned()));
        facts.add("leases   " + first.leases());
        if (row.column() == null) {
            facts.add("path     " + orDash(first.path()));
            facts.add("offset   " + first.offset());
            facts.add("crc32c   " + orDash(first.crc32c()));
        } else {
            facts.add("arrays   " + row.arrays().stream().map(ArrayRow::name).collect(Collectors.joining(" ")));
        }
        facts.add("source   " + orDash(row.source()));
        return facts;
    }

    private static String bytes(long bytes) {
        return bytes + (bytes < 1024 ? "" : " (" + Units.size(bytes) + ")");
    }

    /** Writes a shape as numpy does, without blanks: {@code (60000,28,28)}, {@code (10,)}, {@code ()}. */
    public static String shape(List<Long> shape) {
        String extents = shape.stream().map(String::valueOf).collect(Collectors.joining(","));
        return "(" + extents + (shape.size() == 1 ? ",)" : ")");
    }

    private static List<String> rest(ListedRow row) {
        ArrayRow first = row.first();
        boolean isOneArray = row.column() == null && !row.isOnlyKnown();
        String digest = first.digest();
        return List.of(
                isOneArray ? String.valueOf(first.order()) : "-",
                Units.size(row.bytes()),
                first.version() == 0 ? "-" : String.valueOf(first.version()),
                first.state().text(),
                yesOrNo(first.pinned()),
                String.valueOf(first.leases()),
                isOneArray ? String.valueOf(first.offset()) : "-",
                isOneArray ? orDash(first.crc32c()) : "-",
                orDash(digest.substring(0, Math.min(DIGEST_DIGITS, digest.length()))),
                isOneArray ? orDash(first.path()) : "-",
                orDash(row.source()));
    }

    private static String yesOrNo(boolean value) {
        return value ? "yes" : "no";
    }

    private static String orDash(String text) {
        return text.isEmpty() ? "-" : text;
    }
}
