package dev.larder.readers.http;

import dev.larder.reader.BadSource;
import dev.larder.reader.PlaceObject;
import dev.larder.reader.Retries;
import dev.larder.reader.WorkerThreads;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the files below an address that ends with a slash. The server sends a page of links, as servers do for folders, or a text with the path
 * of a file on each line. Only links further down count.
 */
final class FolderListing {
    private static final int MOST_INDEX_BYTES = 64 << 20;
    private static final int MOST_PATHS = 1_000_000;
    private static final int MOST_FOLDERS = 10_000;
    private static final Pattern LINK =
            Pattern.compile("(?i)<a\\s[^>]*?href\\s*=\\s*(?:\"([^\"]*)\"|'([^']*)'|([^\\s>]+))");

    private final HttpReader reader;
    private final Exchange exchange;
    private final int connections;
    private final Consumer<PlaceObject> found;

    FolderListing(HttpReader reader, Exchange exchange, int connections, Consumer<PlaceObject> found) {
        this.reader = reader;
        this.exchange = exchange;
        this.connections = connections;
        this.found = found;
    }

    void list(String address) throws IOException {
        URI root = Address.requested(address);
        Set<String> seen = new HashSet<>(List.of(root.getRawPath()));
        Deque<String> folders = new ArrayDeque<>(seen);
        int folderCount = 1;
        while (!folders.isEmpty()) { // a few at a time, so that files of the first ones are reported early
            Set<String> paths = new ConcurrentSkipListSet<>();
            List<WorkerThreads.Part> indexes = new ArrayList<>();
            while (indexes.size() < connections && !folders.isEmpty()) {
                String folder = folders.remove();
                indexes.add(() -> paths.addAll(index(address, root, folder)));
            }
            WorkerThreads.runAll(connections, indexes);
            List<WorkerThreads.Part> looks = new ArrayList<>();
            for (String path : paths) {
                boolean isNew = seen.add(path);
                if (isNew && path.endsWith("/")) {
                    folders.add(path);
                    folderCount++;
                } else if (isNew) {
                    looks.add(() -> found.accept(look(address, root, path)));
                }
            }
            if (seen.size() > MOST_PATHS || folderCount > MOST_FOLDERS) {
                throw HttpReader.bad("it lists too many files or folders", "name folders below it");
            }
            WorkerThreads.runAll(connections, looks);
        }
    }

    private PlaceObject look(String address, URI root, String path) throws IOException {
        String name = path.substring(root.getRawPath().length());
        try {
            return reader.look(withPath(address, root, path), Address.decoded(name), false);
        } catch (BadSource e) {
            throw below(name, e);
        }
    }

    /** Adds the path below the address to the message. */
    private static BadSource below(String name, BadSource failure) {
        return name.isEmpty() ? failure : HttpReader.bad(name + ": " + failure.getMessage(), failure.remedy());
    }

    /** Returns the paths that the server lists below a folder. */
    private List<String> index(String address, URI root, String folder) throws IOException {
        List<String> paths = new ArrayList<>();
        try {
            Retries.run(() -> index(address, root, folder, paths));
        } catch (BadSource e) {
            throw below(folder.substring(root.getRawPath().length()), e);
        }
        return paths;
    }

    private void index(String address, URI root, String folder, List<String> paths) throws IOException {
        paths.clear();
        try (Exchange.Answer answer = exchange.get(withPath(address, root, folder), connection -> {})) {
            answer.requireOk();
            String type = String.valueOf(answer.connection().getContentType()).toLowerCase(Locale.ROOT);
            boolean isPage = type.startsWith("text/html");
            if (!isPage && !type.startsWith("text/plain")) {
                throw noListing("it is of type " + type.replaceAll("[^a-z0-9/;=.+ -]", "?"));
            }
            String text = text(answer.connection(), answer);
            for (String link : isPage ? links(text) : text.lines().toList()) {
                add(link, folder, root, paths);
            }
        }
    }

    private static String text(HttpURLConnection connection, Exchange.Answer answer) throws IOException {
        try (Content content = answer.stream()) {
            byte[] bytes = content.readNBytes(MOST_INDEX_BYTES + 1);
            if (bytes.length > MOST_INDEX_BYTES) {
                throw noListing("it is longer than " + MOST_INDEX_BYTES + " bytes");
            } else if (connection.getContentLengthLong() > bytes.length) {
                throw new java.io.EOFException("the connection ended within a list of files");
            }
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    private static IOException noListing(String reason) {
        return HttpReader.bad(
                "the server sent no list of files: " + reason,
                "name files, or put a text there that has the path of a file on each line");
    }

    private static List<String> links(String page) {
        List<String> links = new ArrayList<>();
        Matcher matcher = LINK.matcher(page);
        while (matcher.find()) {
            String link = matcher.group(1) != null ? matcher.group(1) : matcher.group(2);
            links.add((link == null ? matcher.group(3) : link).replace("&amp;", "&"));
        }
        return links;
    }

    /** Adds the path of a link if it is below the folder. */
    private static void add(String link, String folder, URI root, List<String> paths) {
        String words = link.strip();
        if (words.isEmpty() || words.startsWith("#") || words.startsWith("?")) {
            return;
        }
        try {
            URI to = root.resolve(folder).resolve(Address.tidied(words)).normalize();
            String path = to.getRawPath();
            boolean isHere = root.getHost().equals(to.getHost()) && root.getPort() == to.getPort();
            if (isHere && path != null && path.startsWith(folder) && path.length() > folder.length()) {
                paths.add(path);
            }
        } catch (IllegalArgumentException e) {
            return; // a line of text that is not a path
        }
    }

    /** Returns the address with another path. User, password and query stay, because they may be credentials. */
    private static String withPath(String address, URI root, String path) throws IOException {
        String user = Address.userInfo(address);
        String authority = root.getRawAuthority();
        return root.getScheme() + "://"
                + (user == null ? "" : address.substring(address.indexOf("://") + 3, address.indexOf('@') + 1))
                + authority + path
                + (root.getRawQuery() == null ? "" : "?" + root.getRawQuery());
    }
}
