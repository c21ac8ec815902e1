package dev.larder.server.source.scan;

import dev.larder.error.LarderException;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.formats.TarMembers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Makes columns of tar archives as WebDataset writes them: files with one name up to the first dot are a sample, and what follows
 * that dot names its column. Archives of one folder follow each other; each folder below has a level of names.
 */
final class TarScan {
    private final String dataset;
    private final Set<String> wanted;
    private final ScanSettings settings;
    private final List<LarderException> refusals;

    private TarScan(String dataset, Set<String> wanted, ScanSettings settings, List<LarderException> refusals) {
        this.dataset = dataset;
        this.wanted = wanted;
        this.settings = settings;
        this.refusals = refusals;
    }

    /** Tells whether a source is a tar archive by itself. */
    static boolean isArchive(Path path, SourceOptions options) {
        return options.dtype().isEmpty() && TarMembers.isNamedSo(path.toString()) && !Files.isDirectory(path);
    }

    /** Tells whether some files are archives, by their names. */
    static boolean isAmong(FileTable files) {
        return IntStream.range(0, files.size()).anyMatch(i -> TarMembers.isNamedSo(files.name(i)));
    }

    static ScannedSource of(String dataset, Path path, SourceOptions options, ScanSettings settings) {
        FileWalk walk = FileWalk.of(path, options, settings);
        FileTable archives = walk.files().only(TarMembers::isNamedSo);
        TarScan scan = new TarScan(dataset, new HashSet<>(options.keys()), settings, walk.refusals());
        int skipped = walk.files().size() - archives.size();
        return ColumnScan.source(
                new ScannedSource(dataset, path, scan.arrays(archives), skipped, walk.hidden()), scan.refusals);
    }

    private List<SourceArray> arrays(FileTable archives) {
        Map<String, List<SourceIdentity>> folders = new TreeMap<>();
        for (int i = 0; i < archives.size(); i++) {
            String name = archives.name(i);
            String level = name.substring(0, name.lastIndexOf('/') + 1);
            folders.computeIfAbsent(level, folder -> new ArrayList<>()).add(archives.get(i));
        }
        List<SourceArray> arrays = new ArrayList<>();
        try {
            folders.forEach((level, files) -> {
                try (TarSamples samples = new TarSamples(dataset, level, files, wanted, settings)) {
                    arrays.addAll(samples.read(refusals));
                }
            });
            return arrays;
        } catch (RuntimeException | Error e) {
            arrays.forEach(SourceArray::release);
            throw e;
        }
    }
}
