package dev.larder.server.store;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.store.version.Manifest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notes in {@code incoming/intent} that several finished versions are about to become visible together. A daemon that is killed
 * half way leaves the note, and the next one finishes what it says: all is written by then, only folders have to be renamed.
 *
 * <pre>
 *   line     from TAB dataset TAB version
 *   from     the name of a folder in incoming
 * </pre>
 */
final class Intent {
    private static final Logger LOG = LoggerFactory.getLogger(Intent.class);
    private static final String NAME = "intent";
    private static final int FIELDS = 3;
    private static final Pattern VERSION = Pattern.compile("[0-9]{1,18}");

    private final StoreLayout layout;

    Intent(StoreLayout layout) {
        this.layout = layout;
    }

    /** One version, and where it lies until it is visible. */
    record Move(Path from, String dataset, long version) {}

    private Path file() {
        return layout.incoming().resolve(NAME);
    }

    /** Notes moves, in one step. From here on they are made, by this process or by the next. */
    void write(List<Move> moves, Path draft) throws IOException {
        Publication.write(draft, writer -> {
            for (Move move : moves) {
                writer.write(move.from.getFileName() + "\t" + move.dataset + "\t" + move.version + "\n");
            }
        });
        Files.move(draft, file(), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Forgets them: all are made, or all are taken back. */
    void clear() throws IOException {
        Files.deleteIfExists(file());
    }

    /** Makes the moves that a daemon which was killed had noted and not made. */
    void finish() throws IOException {
        if (!Files.exists(file(), LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Manifest.requireOwn(file());
        for (String line : Files.readAllLines(file())) {
            String[] fields = line.split("\t", -1);
            if (fields.length == FIELDS && VERSION.matcher(fields[2]).matches()) {
                finish(new Move(layout.incoming().resolve(fields[0]), fields[1], Long.parseLong(fields[2])));
            }
        }
        clear();
    }

    private void finish(Move move) throws IOException {
        Path target = layout.version(move.dataset, move.version);
        if (Files.isDirectory(move.from, LinkOption.NOFOLLOW_LINKS)
                && !Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            Publication.makeFolder(layout.dataset(move.dataset));
            Files.move(move.from, target, StandardCopyOption.ATOMIC_MOVE);
            LOG.info("finished an interrupted publication: dataset={} version={}", move.dataset, move.version);
        }
    }
}
