package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The file {@code shard} of a version: {@code INDEX/COUNT}, a space, and the digest of the whole dataset after all nodes have
 * agreed on it. A version without this file is whole. The file is replaced by a rename, but its rows never change.
 *
 * @param rows the rows of this shard
 * @param of the digest of the whole dataset; empty until the nodes have agreed on it
 */
public record ShardFile(ShardRows rows, String of) {
    private static final int MOST_BYTES = 200;

    /** Returns the contents of the file. */
    public String text() {
        return rows.text() + " " + of + "\n";
    }

    /**
     * Reads the file. Returns null if the version is whole.
     *
     * @throws dev.larder.error.LarderException CHECKSUM if it is damaged
     */
    public static @Nullable ShardFile read(Path folder) {
        Path file = folder.resolve(StoreLayout.SHARD);
        if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
            return null; // a folder of arrays with this name, from an earlier release
        }
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw new IllegalArgumentException("it is too long");
            }
            String[] words = Files.readString(file, StandardCharsets.US_ASCII).split("\\s", -1);
            return new ShardFile(ShardRows.parse(words[0]), words.length > 1 ? words[1] : "");
        } catch (NoSuchFileException whole) {
            return null;
        } catch (IOException | IllegalArgumentException e) {
            throw Failure.of(ErrorCode.CHECKSUM, "cannot read which rows a version has")
                    .with("file", file)
                    .with("reason", e)
                    .cause(e)
                    .remedy(Remedy.reload(folder));
        }
    }
}
