package dev.larder.command.launch;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.server.remote.StagedSources;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.SourceSamples;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/**
 * The files of sources and their lengths, in a line each; if that gets long, in a line for each folder, or for each source. There are no
 * times, because copies of a folder on several machines have different ones; digests show whether the bytes are equal.
 */
final class RunListing {
    /** The size of the buffers of a connection, so that no node delays the leader. */
    private static final int MOST_CHARACTERS = 1 << 20;

    private static final int DIGEST_BYTES = 8;

    private RunListing() {}

    /** Lists the files of sources, and the objects of remote sources. */
    static String of(List<DataSource> sources) {
        return of(sources, MOST_CHARACTERS);
    }

    static String of(List<DataSource> sources, int mostCharacters) {
        List<String> lines = new ArrayList<>();
        for (DataSource wanted : sources) {
            if (!wanted.source().isRemote()) {
                addFiles(wanted, lines);
            }
        }
        addObjects(
                sources.stream()
                        .map(DataSource::source)
                        .filter(LoadRequest.Source::isRemote)
                        .distinct()
                        .toList(),
                lines);
        Collections.sort(lines);
        String listing = String.join("\n", lines);
        if (listing.length() > mostCharacters) {
            listing = summary(lines, line -> Math.max(line.lastIndexOf('/'), line.indexOf('\t')) + 1);
        }
        return listing.length() > mostCharacters ? summary(lines, line -> line.indexOf('\t') + 1) : listing;
    }

    /** Replaces lines with a common beginning by one with their number and their digest. */
    private static String summary(List<String> lines, ToIntFunction<String> startOf) {
        Map<String, List<String>> groups = lines.stream()
                .collect(Collectors.groupingBy(
                        line -> line.substring(0, startOf.applyAsInt(line)), TreeMap::new, Collectors.toList()));
        return groups.entrySet().stream()
                .map(group -> group.getKey() + "*\tfiles:" + group.getValue().size() + ",sha256:"
                        + digest(String.join("\n", group.getValue())))
                .collect(Collectors.joining("\n"));
    }

    private static String digest(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, DIGEST_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static String line(LoadRequest.Source source, Object file, Object length) {
        return source.name() + "\t" + file + "\t" + length;
    }

    /** Lists remote objects by the reader of this machine: lengths, and ETags or times, which are the same for all nodes. */
    private static void addObjects(List<LoadRequest.Source> sources, List<String> lines) {
        if (sources.isEmpty()) {
            return;
        }
        try (StagedSources there = StagedSources.list(sources, SourceOptions.none(), ScanSettings.quick(), null)) {
            for (LoadRequest.Source source : sources) {
                there.listed(source).forEach((name, look) -> lines.add(line(source, name, look)));
            }
        }
    }

    /** Lists files. Those that are read in part have samples too, because no digest covers bytes that no node has read. */
    private static void addFiles(DataSource wanted, List<String> lines) {
        LoadRequest.Source source = wanted.source();
        Path top = source.file();
        try {
            Files.walkFileTree(
                    top, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, new SimpleFileVisitor<>() {
                        @Override
                        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                            if (attributes.isRegularFile()) {
                                String sample = wanted.isShard()
                                        ? ",sample:" + SourceSamples.read(SourceIdentity.of(file))
                                        : "";
                                lines.add(line(source, top.relativize(file), attributes.size() + sample));
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

    /** Refuses sources if their files differ from the list of the leader, naming the first difference. */
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
        return Failure.of(ErrorCode.BAD_INPUT, "the source differs from the leader's list")
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
