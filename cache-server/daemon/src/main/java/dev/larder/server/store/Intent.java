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
 * The record {@code incoming/intent} of several finished versions that become visible together. If the daemon is killed half way,
 * the next one makes the remaining renames: everything else has been written before the record.
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

    /** One version and its folder until it is visible. */
    record Move(Path from, String dataset, long version) {}

    private Path file() {
        return layout.incoming().resolve(NAME);
    }

    /** Records moves, in one step. From now on they will be made, by this process or by the next daemon. */
    void write(List<Move> moves, Path draft) throws IOException {
        Publication.write(draft, writer -> {
            for (Move move : moves) {
                writer.write(move.from.getFileName() + "\t" + move.dataset + "\t" + move.version + "\n");
            }
        });
        Files.move(draft, file(), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Removes the record, after all moves have been made or undone. */
    void clear() throws IOException {
        Files.deleteIfExists(file());
    }

    /** Makes the recorded moves that a killed daemon did not make. */
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
