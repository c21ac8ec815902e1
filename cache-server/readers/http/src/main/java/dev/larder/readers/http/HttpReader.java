package dev.larder.readers.http;

import dev.larder.reader.BadSource;
import dev.larder.reader.PlaceObject;
import dev.larder.reader.PlaceReader;
import dev.larder.reader.Retries;
import dev.larder.reader.TemporaryFailure;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.util.Locale;
import java.util.function.Consumer;

/** Reads files from web servers, in ranges if the server supports them. */
public final class HttpReader implements PlaceReader {
    private static final int PRECONDITION_FAILED = 412;
    private static final int RANGE_NOT_SATISFIABLE = 416;
    private static final String MODIFIED = "Last-Modified";

    private final Exchange exchange;

    /** Takes credentials and proxies from the environment. */
    public HttpReader() {
        this(new Exchange(System.getenv()));
    }

    HttpReader(Exchange exchange) {
        this.exchange = exchange;
    }

    @Override
    public String kind() {
        return "http";
    }

    @Override
    public void list(String address, int connections, Consumer<PlaceObject> found) throws IOException {
        if (Address.isFolder(address)) {
            new FolderListing(this, exchange, connections, found).list(address);
        } else {
            found.accept(look(address, Address.fileName(address), true));
        }
    }

    /**
     * Requests the first byte of a file. HEAD is no alternative: signed addresses permit only GET, and servers differ.
     *
     * @param name the name of the file in its place
     */
    PlaceObject look(String address, String name, boolean isAlone) throws IOException {
        PlaceObject[] found = new PlaceObject[1];
        Retries.run(() -> found[0] = lookOnce(address, name, isAlone));
        return found[0];
    }

    private PlaceObject lookOnce(String address, String name, boolean isAlone) throws IOException {
        try (Exchange.Answer answer =
                exchange.get(address, connection -> connection.setRequestProperty("Range", "bytes=0-0"))) {
            HttpURLConnection connection = answer.connection();
            boolean hasRanges = answer.status() == HttpURLConnection.HTTP_PARTIAL;
            boolean isEmpty = answer.status() == RANGE_NOT_SATISFIABLE;
            if (!hasRanges && !isEmpty) {
                answer.requireOk();
            }
            requireNotPacked(connection, name);
            requireNoFolder(address, connection);
            long byteSize = hasRanges || isEmpty ? total(connection) : connection.getContentLengthLong();
            if (byteSize < 0) {
                throw bad(
                        "the server sends no length",
                        "download it first, and load the file: its memory is reserved before it is fetched");
            }
            long modifiedMs = connection.getHeaderFieldDate(MODIFIED, 0);
            String tag = tag(connection);
            // Without a tag, parts could be of two versions, unnoticed.
            boolean isInParts = hasRanges && !tag.isEmpty();
            return new PlaceObject(address, name, isAlone, byteSize, modifiedMs * 1_000_000, tag, isInParts);
        }
    }

    private static void requireNotPacked(HttpURLConnection connection, String name) throws BadSource {
        String packing = connection.getContentEncoding();
        boolean isPacked = packing != null && !packing.equalsIgnoreCase("identity");
        if (isPacked && !name.toLowerCase(Locale.ROOT).endsWith("gz")) {
            throw bad("the server compresses it: " + packing, "configure the server to send it uncompressed");
        }
    }

    /** Refuses an address that redirects to itself with a slash: the content would be a page about files. */
    private static void requireNoFolder(String address, HttpURLConnection connection) throws BadSource {
        String path = Address.requested(address).getRawPath();
        if (!path.endsWith("/") && connection.getURL().getPath().equals(path + "/")) {
            throw bad("it is a folder", "end the address with a slash to load its files");
        }
    }

    private static long total(HttpURLConnection connection) {
        String range = connection.getHeaderField("Content-Range");
        try {
            return range == null
                    ? -1
                    : Long.parseLong(range.substring(range.lastIndexOf('/') + 1).strip());
        } catch (NumberFormatException unknown) { // "*"
            return -1;
        }
    }

    /** Returns the ETag, else the time of modification, else an empty text. */
    private static String tag(HttpURLConnection connection) {
        String tag = connection.getHeaderField("ETag");
        if (tag != null) {
            return tag;
        }
        String modified = connection.getHeaderField(MODIFIED);
        return modified == null ? "" : modified;
    }

    @Override
    public InputStream open(PlaceObject object, long from, long end) throws IOException {
        Exchange.Answer answer = exchange.get(object.address(), connection -> {
            if (object.hasRanges()) { // also for the whole file: some servers send fewer headers with parts
                connection.setRequestProperty("Range", "bytes=" + from + "-" + (end - 1));
            }
            if (object.tag().startsWith("\"")) { // a strong ETag; weak ones are compared below
                connection.setRequestProperty("If-Match", object.tag());
            }
        });
        try {
            if (answer.status() == PRECONDITION_FAILED || answer.status() == RANGE_NOT_SATISFIABLE) {
                throw BadSource.changed(0, "the server has another version now");
            }
            boolean isWhole = answer.status() == HttpURLConnection.HTTP_OK;
            if (!isWhole && answer.status() != HttpURLConnection.HTTP_PARTIAL) {
                answer.requireOk();
            }
            requireNotPacked(answer.connection(), object.name());
            requireSame(object, answer.connection(), isWhole);
            InputStream in = answer.stream();
            if (isWhole) {
                in.skipNBytes(from); // a server may ignore the range
            } else if (firstByte(answer.connection()) != from) {
                throw new TemporaryFailure("the server answers with another range", 0);
            }
            return in;
        } catch (IOException | RuntimeException e) {
            answer.close();
            throw e;
        }
    }

    private static void requireSame(PlaceObject object, HttpURLConnection connection, boolean isWhole)
            throws BadSource {
        String tag = tag(connection);
        if (!tag.equals(object.tag())) {
            throw BadSource.changed(0, "tag=" + tag + " was=" + object.tag());
        }
        long byteSize = isWhole ? connection.getContentLengthLong() : total(connection);
        if (byteSize >= 0 && byteSize != object.byteSize()) {
            throw BadSource.changed(0, "bytes=" + byteSize + " were=" + object.byteSize());
        }
    }

    private static long firstByte(HttpURLConnection connection) {
        String range = connection.getHeaderField("Content-Range");
        if (range == null || !range.startsWith("bytes ") || range.indexOf('-') < 0) {
            return -1;
        }
        try {
            return Long.parseLong(
                    range.substring("bytes ".length(), range.indexOf('-')).strip());
        } catch (NumberFormatException malformed) {
            return -1;
        }
    }

    /** Returns the refusal of a file; the daemon adds its address. */
    static BadSource bad(String reason, String remedy) {
        return new BadSource(0, BadSource.NOWHERE, "", reason, remedy);
    }
}
