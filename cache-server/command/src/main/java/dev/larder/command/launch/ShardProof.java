package dev.larder.command.launch;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.Digest;
import dev.larder.internal.layout.ShardRows;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.ingest.Crc32cSum;
import dev.larder.server.store.version.Manifest;
import dev.larder.server.store.version.ShardRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;

/**
 * The proof that the shards of all nodes make up one whole, without reading it: for each array, the CRC32C of the rows that no earlier node
 * has. Together they are the CRC32C of the array, and give the digest of a node with all rows. Each daemon has read the other parts as a
 * whole, such as the offsets of a column, and all must be equal.
 *
 * <p>A line for each array: {@code dataset, array, dtype, order, dimensions of a row, rows of the whole, own bytes, CRC32C of those}, with
 * tabs.
 */
final class ShardProof {
    private static final int COLUMNS = 8;
    private static final String NO_ROWS = "-";
    private static final int STEP_BYTES = 64 << 20;

    private ShardProof() {}

    /** Returns the lines of a dataset. */
    static List<String> of(Dataset dataset, ShardRows shard) {
        List<String> lines = new ArrayList<>();
        if (shard.count() == 1) {
            lines.add(dataset.name() + "\t" + dataset.digest());
            return lines;
        }
        ShardRecord record = record(dataset, shard);
        for (String name : dataset.arrayNames()) {
            lines.add(line(dataset, name, record));
        }
        return lines;
    }

    private static ShardRecord record(Dataset dataset, ShardRows shard) {
        ShardRecord record = Manifest.readShard(dataset.stored().folder().resolve(StoreLayout.MANIFEST));
        if (record == null || !record.file().rows().equals(shard)) {
            throw Failure.of(ErrorCode.REFUSED, "the daemon has not loaded the shard that it was asked for")
                    .with("dataset", dataset.name())
                    .with("version", dataset.version())
                    .with("shard", shard.text())
                    .with(
                            "found",
                            record == null ? "all rows" : record.file().rows().text())
                    .remedy("give this run a store of its own, and stop a daemon of an older release: larder stop");
        }
        return record;
    }

    private static String line(Dataset dataset, String name, ShardRecord record) {
        ArrayView view = dataset.array(name);
        List<Long> rows = record.rows().get(name);
        ShardRecord.Whole whole = record.wholes().get(name);
        if (whole != null) {
            String shape = whole.shape().stream().map(String::valueOf).collect(Collectors.joining(","));
            return line(dataset, view, shape, NO_ROWS, 0, whole.crc32c());
        }
        String total = NO_ROWS;
        long ownBytes = view.byteSize();
        int own = view.crc32c();
        if (rows != null) {
            long all = rows.get(2);
            total = Long.toString(all);
            long shared = (firstOwn(rows, record.file().rows()) - rows.get(0)) * view.rowByteSize();
            ownBytes -= shared;
            own = withoutShared(view, shared, own, ownBytes);
        }
        String tail = Arrays.stream(view.shape())
                .skip(rows == null ? 0 : 1)
                .mapToObj(Long::toString)
                .collect(Collectors.joining(","));
        return line(dataset, view, tail, total, ownBytes, HexFormat.of().toHexDigits(own));
    }

    private static String line(
            Dataset dataset, ArrayView view, String tail, String total, long ownBytes, String crc32c) {
        return String.join(
                "\t",
                dataset.name(),
                view.name(),
                view.dtype().descr(),
                view.order().name(),
                tail,
                total,
                Long.toString(ownBytes),
                crc32c);
    }

    /** Returns the first row that no earlier node has. The values of a column are divided by its rows, which the daemon has recorded. */
    private static long firstOwn(List<Long> rows, ShardRows shard) {
        return rows.size() > 3 ? rows.get(3) : shard.firstOwn(rows.get(2));
    }

    /** Removes rows from a checksum that an earlier node also has: fewer than the number of nodes. */
    private static int withoutShared(ArrayView view, long shared, int crc32c, long ownBytes) {
        if (shared == 0) {
            return crc32c;
        }
        CRC32C crc = new CRC32C();
        for (long at = 0; at < shared; at += STEP_BYTES) {
            crc.update(view.dataBuffer(at, (int) Math.min(STEP_BYTES, shared - at)));
        }
        return ownBytes == 0 ? 0 : Crc32cSum.withoutFirst(crc32c, (int) crc.getValue(), ownBytes);
    }

    /**
     * Returns the digests of the wholes, a line {@code dataset digest} each.
     *
     * @param proofs of all nodes, in their order
     * @throws LarderException BAD_INPUT if they are not of one whole
     */
    static String agree(List<String> proofs) {
        Map<String, List<ArrayEntry>> wholes = new TreeMap<>();
        Map<String, String> digests = new TreeMap<>();
        List<Map<String, String[]>> nodes = new ArrayList<>();
        for (String proof : proofs) {
            nodes.add(parse(proof));
        }
        for (int node = 1; node < nodes.size(); node++) {
            requireAlike(nodes.get(0), nodes.get(node), node);
        }
        nodes.get(0).forEach((key, words) -> {
            if (words.length == 2) {
                digests.put(words[0], words[1]);
            } else {
                wholes.computeIfAbsent(words[0], name -> new ArrayList<>()).add(join(key, nodes));
            }
        });
        wholes.forEach((dataset, arrays) -> digests.put(dataset, Digest.hex(Digest.of(arrays))));
        return digests.entrySet().stream()
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .collect(Collectors.joining("\n"));
    }

    private static Map<String, String[]> parse(String proof) {
        Map<String, String[]> arrays = new TreeMap<>();
        for (String line : proof.lines().toList()) {
            String[] words = line.split("\t", -1);
            arrays.put(words.length == COLUMNS ? words[0] + "/" + words[1] : words[0], words);
        }
        return arrays;
    }

    private static void requireAlike(Map<String, String[]> first, Map<String, String[]> other, int node) {
        if (!first.keySet().equals(other.keySet())) {
            throw different(node, "arrays", other.keySet(), first.keySet());
        }
        other.forEach((key, words) -> {
            String here = shown(words);
            String there = shown(first.getOrDefault(key, new String[0]));
            if (!here.equals(there)) {
                throw different(node, key, here, there);
            }
        });
    }

    /** Returns the part that is equal on all nodes: everything, if the array has no rows to divide. */
    private static String shown(String[] words) {
        boolean isCut = words.length == COLUMNS && !words[5].equals(NO_ROWS);
        return String.join(" ", Arrays.asList(words).subList(0, isCut ? 6 : words.length));
    }

    private static LarderException different(int node, String what, Object here, Object there) {
        return Failure.of(ErrorCode.BAD_INPUT, "the source changed between nodes")
                .with("node", "#" + node)
                .with("array", what)
                .with("has", here)
                .with("node", "#0")
                .with("has", there)
                .remedy("start again when nothing writes to it, or make the copies on all machines equal");
    }

    private static ArrayEntry join(String key, List<Map<String, String[]>> nodes) {
        String[] words = nodes.get(0).getOrDefault(key, new String[0]);
        boolean isCut = !words[5].equals(NO_ROWS);
        int crc = 0;
        long bytes = 0;
        for (Map<String, String[]> node : isCut ? nodes : nodes.subList(0, 1)) {
            String[] part = node.getOrDefault(key, words);
            long own = Long.parseLong(part[6]);
            crc = Crc32cSum.of(crc, HexFormat.fromHexDigits(part[7]), own);
            bytes += own;
        }
        String shape = isCut ? words[5] + (words[4].isEmpty() ? "" : "," + words[4]) : words[4];
        long[] dimensions = shape.isEmpty()
                ? new long[0]
                : Arrays.stream(shape.split(",", -1)).mapToLong(Long::parseLong).toArray();
        if (isCut
                && bytes
                        != NpyHeader.of(Dtype.parse(words[2]), Order.valueOf(words[3]), dimensions)
                                .byteSize()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the shards of all nodes do not make up the whole")
                    .with("array", key)
                    .with("bytes", bytes)
                    .with("rows", words[5])
                    .remedy("start again when nothing writes to the source");
        }
        return new ArrayEntry(words[1], words[2], words[3].charAt(0), dimensions, "", 0, bytes, crc);
    }
}
