package dev.larder.command.launch;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.LoadRequest;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The files of sources and their lengths, a line each. Times are left out: copies of one folder on several machines have others, and
 * digests tell whether the bytes are the same.
 */
final class SourceListing {
    private SourceListing() {}

    /** Lists the files of sources; of what does not lie in files here, its name. */
    static String of(List<LoadRequest.Source> sources) {
        List<String> lines = new ArrayList<>();
        for (LoadRequest.Source source : sources) {
            if (source.path().contains("://")) {
                lines.add(line(source, source.path(), "elsewhere"));
            } else {
                addFiles(source, lines);
            }
        }
        Collections.sort(lines);
        return String.join("\n", lines);
    }

    private static String line(LoadRequest.Source source, Object file, Object length) {
        return source.name() + "\t" + file + "\t" + length;
    }

    private static void addFiles(LoadRequest.Source source, List<String> lines) {
        Path top = source.file();
        try {
            Files.walkFileTree(
                    top, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, new SimpleFileVisitor<>() {
                        @Override
                        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                            if (attributes.isRegularFile()) {
                                lines.add(line(source, top.relativize(file), attributes.size()));
                            }
                            return FileVisitResult.CONTINUE;
                        }
                    });
        } catch (IOException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot list a source")
                    .with("dataset", source.name())
                    .with("path", top)
                    .with("reason", e)
                    .cause(e)
                    .remedy("name a folder or file that this machine can read");
        }
    }

    /** Refuses sources whose files are not those that the leader listed, by the first that differs. */
    static void requireSame(String leader, String here) {
        if (leader.equals(here)) {
            return;
        }
        Set<String> listed = new HashSet<>(leader.lines().toList());
        Set<String> found = new HashSet<>(here.lines().toList());
        String differs = here.lines()
                .filter(line -> !listed.contains(line))
                .findFirst()
                .orElseGet(() -> leader.lines()
                        .filter(line -> !found.contains(line))
                        .findFirst()
                        .orElse(""));
        String[] parts = differs.split("\t", -1);
        String key = parts.length == 3 ? parts[0] + "\t" + parts[1] + "\t" : differs;
        throw different(parts, length(here, key), length(leader, key));
    }

    private static LarderException different(String[] parts, String here, String leader) {
        return Failure.of(ErrorCode.BAD_INPUT, "the source is not what the leader listed")
                .with("dataset", parts[0])
                .with("file", parts.length > 1 ? parts[1] : "")
                .with("bytes", here)
                .with("leader's", leader)
                .remedy("start again when nothing writes to it, or make the copies on all machines equal");
    }

    private static String length(String listing, String key) {
        return listing.lines()
                .filter(line -> line.startsWith(key))
                .map(line -> line.substring(key.length()))
                .findFirst()
                .orElse("absent");
    }
}
