package dev.larder.internal.layout;

import dev.larder.npy.NpyHeader;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Names the files of a store.
 *
 * <pre>
 * &lt;store&gt;/daemon.lock                  locked by the live daemon
 * &lt;store&gt;/control.sock                 control plane
 * &lt;store&gt;/catalog.chm                  the daemon's catalog
 * &lt;store&gt;/counters                     live counters
 * &lt;store&gt;/http.token                   token for reading metrics, while the daemon serves them
 * &lt;store&gt;/data/&lt;dataset&gt;/&lt;version&gt;/    a published version: manifest.json, index, lease, &lt;array&gt;.npy …
 * &lt;store&gt;/data/&lt;dataset&gt;/current       symbolic link whose text is the newest version
 * &lt;store&gt;/data/&lt;dataset&gt;/registered    the source of a dataset that is not resident
 * &lt;store&gt;/incoming/                    work of live ingests
 * &lt;store&gt;/rings/&lt;name&gt;/                batches that a process publishes for others: {@link RingDescriptor}
 * &lt;store&gt;/loaders/                     counters of live loaders: {@link LoaderDescriptor}
 * &lt;store&gt;/regions/                     memory that processes write together: {@link RegionDescriptor}
 * </pre>
 *
 * @param root the folder of the store
 */
public record StoreLayout(Path root) {
    /** The format version of every file; a store of another version is never read. */
    public static final int FORMAT_VERSION = 1;

    /** The longest path of a Unix-domain socket, in bytes. */
    public static final int SOCKET_PATH_LIMIT = 107;

    /** The alignment that the format promises, for every page size. */
    public static final int ALIGNMENT = 4096;

    /**
     * The distance from a multiple of {@link #ALIGNMENT} to the data of an array, in bytes. On AMD Zen, {@code rep movsb} slows down to a sixth if its
     * target lies 1 to 63 bytes behind its source modulo 4096, and numpy's memory starts 16 bytes behind a page, torch's 64, Java's 0.
     * 192 avoids this for every row size that is a multiple of 128 (decision 59).
     */
    public static final int DATA_BEHIND_PAGE = 192;

    /** The offset of the data in a file with a header of less than a page, as nearly all arrays have. */
    public static final int DATA_START = ALIGNMENT + DATA_BEHIND_PAGE;

    /** Alignment of images and of arrays that share a segment, from its start: a cache line. */
    public static final int PACK_ALIGNMENT = 64;

    private static final Pattern PACK = Pattern.compile("pack-[0-9]{4,}");

    public static final String MANIFEST = "manifest.json";
    public static final String INDEX = "index";
    public static final String LEASE = "lease";
    public static final String PINNED = "pinned";
    public static final String SHARD = "shard";
    private static final Set<String> FILES = Set.of(MANIFEST, INDEX, LEASE, PINNED, SHARD);

    public static final String CURRENT = "current";
    public static final String REGISTERED = "registered";

    /** Encodes the header of an array that has a file of its own. The limit of the buffer is the offset of the data. */
    public static ByteBuffer header(NpyHeader array) {
        return array.encode(ALIGNMENT, DATA_BEHIND_PAGE);
    }

    /** Returns whether data that starts here in a file starts where {@link #header} puts it. */
    public static boolean isDataStart(long offset) {
        return offset % ALIGNMENT == DATA_BEHIND_PAGE;
    }

    /** Returns the first offset from {@code end} on that is valid for rows. */
    public static long rowsStart(long end) {
        return ByteSums.add(ByteSums.roundUp(end, ALIGNMENT), DATA_BEHIND_PAGE);
    }

    /** Returns the lock file of the daemon. */
    public Path lock() {
        return root.resolve("daemon.lock");
    }

    /** Returns the socket of the control plane. */
    public Path socket() {
        return root.resolve("control.sock");
    }

    /** Returns the catalog, which only the daemon opens. */
    public Path catalog() {
        return root.resolve("catalog.chm");
    }

    /** Returns the live counters. */
    public Path counters() {
        return root.resolve("counters");
    }

    /** Returns the token for reading metrics. Only its owner can read it, and it exists only while the daemon serves them. */
    public Path token() {
        return root.resolve("http.token");
    }

    /** Returns the folder of published versions. */
    public Path data() {
        return root.resolve("data");
    }

    /** Returns the folder of unpublished work. */
    public Path incoming() {
        return root.resolve("incoming");
    }

    /** Returns the folder of rings. */
    public Path rings() {
        return root.resolve("rings");
    }

    /** Returns the folder of one ring. */
    public Path ring(String name) {
        return rings().resolve(name);
    }

    /** Returns the folder of the counters of live loaders. */
    public Path loaders() {
        return root.resolve("loaders");
    }

    /** Returns the folder of regions. */
    public Path regions() {
        return root.resolve("regions");
    }

    /** Returns every part of the store except the lock, which is removed last, to keep other daemons out until then. */
    public List<Path> parts() {
        return Stream.concat(partsOfOneRun().stream(), Stream.of(data(), rings(), loaders(), regions(), catalog()))
                .toList();
    }

    /** Returns the parts that a daemon never takes over from an earlier one. Earlier builds had another socket. */
    public List<Path> partsOfOneRun() {
        return List.of(incoming(), socket(), counters(), token(), root.resolve("regions.sock"));
    }

    /** Returns the folder of one dataset's versions. */
    public Path dataset(String dataset) {
        return data().resolve(dataset);
    }

    /** Returns the folder of one version. */
    public Path version(String dataset, long version) {
        return dataset(dataset).resolve(Long.toString(version));
    }

    /** Returns the store of a version's folder. */
    public static Path storeOf(Path version) {
        Path root = version.resolve("../../..").normalize();
        return root.toString().isEmpty() ? version : root;
    }

    /** Returns the link that names a dataset's newest version. */
    public Path current(String dataset) {
        return dataset(dataset).resolve(CURRENT);
    }

    /** Returns the file with the source of a dataset that can be loaded on request. */
    public Path registered(String dataset) {
        return dataset(dataset).resolve(REGISTERED);
    }

    /** Returns the file name of an array that has a segment of its own, relative to its version's folder. */
    public static String arrayFile(String array) {
        String first = array.substring(0, array.indexOf('/') < 0 ? array.length() : array.indexOf('/'));
        boolean taken = array.length() > first.length() && isReserved(first);
        return (taken ? "@" : "") + array + ".npy";
    }

    /** Returns the file name of a segment that many arrays share, relative to its version's folder. */
    public static String packFile(int number) {
        return String.format("pack-%04d", number);
    }

    /** Returns whether many arrays share a segment with this file name. */
    public static boolean isPack(String file) {
        return PACK.matcher(file).matches();
    }

    /** Returns whether a version uses this name for its own files, so that arrays cannot have it. */
    private static boolean isReserved(String name) {
        return FILES.contains(name) || isPack(name);
    }
}
